"""What the routes of the REST resources work with: collections that change, jobs, and what lies in folders."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.access.guarded_jobs import GuardedJobs
from app.access.guarded_writer import GuardedWriter
from app.errors import QueueUnusable
from app.flow.admission import Admission
from app.jobs.database import Database
from app.jobs.queue import JobQueue
from app.jobs.replies import Replies
from app.jobs.runner import Runner
from app.jobs.upload import Spool
from app.settings import Settings
from corpus.home import checkpoints_home, runs_home
from indexer.index import Index


@dataclass(frozen=True)
class Resources:
    """The parts of one app beside those that answer questions."""

    writer: GuardedWriter
    jobs: GuardedJobs
    replies: Replies
    """Responses to writes that may be asked for again."""
    searching: Admission
    """Places for searches, which compute."""
    checkpoints: Path
    """The registry."""
    runs: Path
    """The folder of the experiments' runs."""
    queue: JobQueue
    runner: Runner
    database: Database

    def job_counts(self) -> dict[str, int]:
        """Return how many jobs have each status; none where the queue cannot be read."""
        with contextlib.suppress(QueueUnusable):
            return self.queue.counts()
        return {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Take uploads in while the block lasts."""
        with contextlib.suppress(QueueUnusable):
            # On a disk that takes nothing, documents are read and asked about all the same.
            self.replies.forget_broken()
        self.runner.start()
        try:
            yield
        finally:
            self.runner.stop()
            self.writer.close()
            self.database.close()


def open_resources(settings: Settings, index: Index) -> Resources:
    """Return the resources over the store of an index; nothing is started or written yet."""
    database = Database(index.folder)
    queue = JobQueue(database, settings.max_queued_jobs)
    runner = Runner(index.folder, queue, settings.embedder)
    return Resources(
        writer=GuardedWriter(index),
        jobs=GuardedJobs(queue, Spool(database.folder), runner),
        replies=Replies(database),
        searching=Admission(settings.retrieval_threads, settings.max_queued),
        checkpoints=checkpoints_home(),
        runs=runs_home(),
        queue=queue,
        runner=runner,
        database=database,
    )
