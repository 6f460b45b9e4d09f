"""Jobs as the caller of a request may see them: those of the caller's collections."""

from __future__ import annotations

from app.access.caller import current_caller
from app.errors import JobBegun, JobNotFound
from app.jobs.queue import JobQueue, StoredJob
from app.jobs.runner import Runner
from app.jobs.upload import Spool, Upload
from app.schemas.job import Job, JobView


class GuardedJobs:
    """The queue for the current caller. A job of another collection is as missing as one that never was."""

    def __init__(self, queue: JobQueue, spool: Spool, runner: Runner) -> None:
        """Take the queue that is guarded, its files, and what works on it."""
        self._queue = queue
        self._runner = runner
        self.spool = spool

    def submit(self, job_id: str, collection: str, upload: Upload) -> JobView:
        """Queue an upload whose files lie in the spool.

        Raises:
            Forbidden: The caller may not use the collection.
            QueueFull, QueueUnusable: It cannot be queued.
        """
        current_caller().require_collection(collection)
        job = self._queue.add(job_id, collection, upload)
        self._runner.wake()
        return _view(job)

    def newest(self, before: int | None, limit: int) -> tuple[tuple[JobView, ...], int | None]:
        """Return up to `limit` jobs older than the number `before`, and the number for the next page, if any."""
        jobs = self._queue.newest(current_caller().collections, before, limit + 1)
        shown = jobs[:limit]
        return tuple(_view(job) for job in shown), shown[-1].number if len(jobs) > limit else None

    def show(self, job_id: str) -> Job:
        """Return a job with what became of its files.

        Raises:
            JobNotFound: There is none of that id.
        """
        job = self._found(job_id)
        return Job.model_validate(
            {**_view(job).model_dump(), "records": self._queue.records(job), "summary": job.summary}
        )

    def cancel(self, job_id: str) -> Job:
        """Cancel a job that waits.

        Raises:
            JobNotFound: There is none of that id.
            JobBegun: It does not wait any more.
        """
        job = self._found(job_id)
        if job.status != "cancelled":
            if not self._queue.cancel(job_id):
                raise JobBegun(
                    f"The job {job_id} is {self._found(job_id).status}: only one that waits can be cancelled. Delete "
                    "its documents instead."
                )
            self.spool.drop(job_id)
        return self.show(job_id)

    def _found(self, job_id: str) -> StoredJob:
        job, allowed = self._queue.get(job_id), current_caller().collections
        if job is None or (allowed is not None and job.collection not in allowed):
            raise JobNotFound(f"There is no job {job_id!r}. `GET /v1/jobs` lists those of the last seven days.")
        return job


def _view(job: StoredJob) -> JobView:
    return JobView.model_validate(
        {
            **{name: getattr(job, name) for name in JobView.model_fields if name not in ("files", "bytes")},
            "files": [file.label for file in job.upload.files],
            "bytes": sum(file.size for file in job.upload.files),
        }
    )
