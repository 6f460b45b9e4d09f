"""The queue of jobs, which outlives the server: what was accepted is taken in, if need be after the next start."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from app.errors import QueueFull
from app.jobs.database import Database
from app.jobs.upload import Upload
from app.schemas.job import JobStatus
from indexer.ingesting.outcomes import FileRecord, Summary

COLUMNS = "number, id, collection, status, created, started, finished, attempts, upload, summary, error"
MOST_ATTEMPTS = 3
"""A job whose process ends so often without a word, as when memory runs out, is given up."""
KEPT = timedelta(days=7)
"""How long one can ask what became of a job."""


@dataclass(frozen=True)
class StoredJob:
    """A row of the queue."""

    number: int
    id: str
    collection: str
    status: JobStatus
    created: str
    started: str | None
    finished: str | None
    attempts: int
    upload: Upload
    summary: dict[str, Any] | None
    error: str | None


class JobQueue:
    """Jobs in the order in which they came. Threads and processes may share the file."""

    def __init__(self, database: Database, most_waiting: int = 1000) -> None:
        """Take the database, and how many jobs may wait."""
        self._database = database
        self._most_waiting = most_waiting

    def add(self, job_id: str, collection: str, upload: Upload) -> StoredJob:
        """Queue a job whose files lie ready.

        Raises:
            QueueFull: As many wait as may.
        """
        with self._database.transaction() as connection:
            (waiting,) = connection.execute("SELECT count(*) FROM jobs WHERE status = 'queued'").fetchone()
            if waiting >= self._most_waiting:
                raise QueueFull(f"{waiting} uploads wait already. Try again when some are taken in.")
            connection.execute(
                "DELETE FROM jobs WHERE finished < ?", ((datetime.now(UTC) - KEPT).isoformat(timespec="milliseconds"),)
            )
            connection.execute(
                "INSERT INTO jobs (id, collection, status, created, upload) VALUES (?, ?, 'queued', ?, ?)",
                (job_id, collection, _now(), upload.model_dump_json()),
            )
        found = self.get(job_id)
        assert found is not None
        return found

    def get(self, job_id: str) -> StoredJob | None:
        """Return a job, or None where there is none, or none any more."""
        rows = self._database.rows(f"SELECT {COLUMNS} FROM jobs WHERE id = ?", (job_id,))
        return _job(rows[0]) if rows else None

    def newest(self, collections: Collection[str] | None, before: int | None, limit: int) -> list[StoredJob]:
        """Return up to `limit` jobs of some collections, or of all, the newest first, those older than `before`."""
        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM jobs WHERE (? IS NULL OR number < ?)"
            " AND (? IS NULL OR collection IN (SELECT value FROM json_each(?))) ORDER BY number DESC LIMIT ?",
            (before, before, *[None if collections is None else json.dumps(sorted(collections))] * 2, limit),
        )
        return [_job(row) for row in rows]

    def records(self, job: StoredJob) -> list[dict[str, Any]]:
        """Return what became of each file of a job so far, in the order of the upload."""
        rows = self._database.rows("SELECT path, record FROM records WHERE job = ?", (job.number,))
        found = {path: json.loads(record) for path, record in rows}
        return [found[file.source] for file in job.upload.files if file.source in found]

    def cancel(self, job_id: str) -> bool:
        """Cancel a job that waits; say whether it did."""
        with self._database.transaction() as connection:
            changed = connection.execute(
                "UPDATE jobs SET status = 'cancelled', finished = ? WHERE id = ? AND status = 'queued'",
                (_now(), job_id),
            )
            return changed.rowcount == 1

    def has_work(self) -> bool:
        """Say whether a job waits, or was begun by a process that may be gone."""
        return bool(self._database.rows("SELECT 1 FROM jobs WHERE status IN ('queued', 'running') LIMIT 1"))

    def counts(self) -> dict[str, int]:
        """Return how many jobs have each status, those that are kept."""
        return dict(self._database.rows("SELECT status, COUNT(*) FROM jobs GROUP BY status"))

    def take(self) -> StoredJob | None:
        """Begin with the job that has waited longest; None where none waits."""
        with self._database.transaction() as connection:
            row = connection.execute(
                "UPDATE jobs SET status = 'running', started = ?, attempts = attempts + 1 WHERE number ="
                f" (SELECT min(number) FROM jobs WHERE status = 'queued') RETURNING {COLUMNS}",
                (_now(),),
            ).fetchone()
        return _job(row) if row else None

    def record(self, job: StoredJob, record: FileRecord) -> None:
        """Keep what became of a file. What was added before its process was killed is not called unchanged."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO records VALUES (?, ?, ?) ON CONFLICT (job, path) DO UPDATE SET record = excluded.record"
                " WHERE excluded.record ->> 'status' != 'unchanged'",
                (job.number, record.path, json.dumps(asdict(record), ensure_ascii=False)),
            )

    def finish(self, job: StoredJob, status: JobStatus, summary: Summary | None, error: str | None) -> None:
        """Say how a job ended."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE jobs SET status = ?, finished = ?, summary = ?, error = ? WHERE number = ?",
                (status, _now(), json.dumps(asdict(summary)) if summary else None, error, job.number),
            )

    def release(self, job: StoredJob) -> None:
        """Let a job that was begun wait again, as if it had not been."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE jobs SET status = 'queued', started = NULL, attempts = attempts - 1 WHERE number = ?",
                (job.number,),
            )

    def take_up_orphans(self) -> None:
        """Let the jobs wait again whose process is gone, but for those that it has been gone over too often.

        Only the one process that works on the queue may ask for it.
        """
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE jobs SET status = 'failed', finished = ?, error = ? WHERE status = 'running' AND attempts >= ?",
                (
                    _now(),
                    f"The process that read it ended {MOST_ATTEMPTS} times without a word: is there too little memory?",
                    MOST_ATTEMPTS,
                ),
            )
            connection.execute("UPDATE jobs SET status = 'queued', started = NULL WHERE status = 'running'")

    def unfinished(self) -> set[str]:
        """Return the ids of the jobs whose files are still needed."""
        return {row[0] for row in self._database.rows("SELECT id FROM jobs WHERE status IN ('queued', 'running')")}


def _job(row: tuple[Any, ...]) -> StoredJob:
    fields = dict(zip(COLUMNS.split(", "), row, strict=True))
    fields["upload"] = Upload.model_validate_json(fields["upload"])
    fields["summary"] = None if fields["summary"] is None else json.loads(fields["summary"])
    return StoredJob(**fields)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
