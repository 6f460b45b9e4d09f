"""The process that takes uploads in, one after the other: `python -m app.jobs.worker STORE EMBEDDER PARENT`.

A process of its own, because reading, cutting and embedding would keep the server's threads from answering, and because
what ends it (too little memory, a crash in a library) must not end the server. It stays for a while when there is
nothing to do, so that the next upload does not wait for the embedding model, and ends with the server.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from filelock import FileLock, Timeout

from app.jobs.database import Database
from app.jobs.queue import JobQueue, StoredJob
from app.jobs.runner import ANOTHER_WORKS
from app.jobs.upload import Spool
from app.schemas.job import JobStatus
from corpus.errors import OpenbookError
from indexer.embedding.embedders import Embedders
from indexer.errors import StoreLocked
from indexer.ingesting.following import Watcher
from indexer.ingesting.ingest import ingest
from indexer.ingesting.options import IngestOptions
from indexer.ingesting.outcomes import Summary
from indexer.parsing.worker import end_with_parent
from indexer.settings import IndexerSettings

log = logging.getLogger(__name__)

IDLE_SECONDS = 60.0
"""How long it stays without work."""
LOOK_SECONDS = 0.1
"""How often it looks for work."""
FREE_SECONDS = 0.15
"""How long the store is left to others between two jobs."""
NICENESS = 3
"""The engine and the server come first."""


class Worker:
    """Takes uploads of one store in."""

    def __init__(self, store: Path, embedder: str | None, settings: IndexerSettings | None = None) -> None:
        """Take the store, and the embedding model; None takes the one that each collection was embedded with."""
        self._store = store
        settings = settings or IndexerSettings()
        if settings.embedder_processes is None:
            # The engine has the cores.
            settings = settings.model_copy(update={"embedder_processes": 1})
        self._settings = settings
        self._embedders = Embedders(embedder, self._settings)
        database = Database(store)
        self._queue = JobQueue(database)
        self._spool = Spool(database.folder)

    def run(self, idle_seconds: float = IDLE_SECONDS) -> None:
        """Work until there has been nothing to do for so long."""
        self._queue.take_up_orphans()
        self._drop_leftovers()
        since = time.monotonic()
        while time.monotonic() - since < idle_seconds:
            job = self._queue.take()
            if job is None:
                time.sleep(LOOK_SECONDS)
                continue
            self.work(job)
            # A deletion looks 20 times a second whether the store is free: between two jobs it finds it so.
            time.sleep(FREE_SECONDS)
            since = time.monotonic()

    def work(self, job: StoredJob) -> None:
        """Take one upload in, and keep what became of it."""
        try:
            summary = ingest(
                self._store,
                self._spool.files(job.id, job.upload.files),
                job.collection,
                embedder=self._embedders,
                settings=self._settings,
                options=IngestOptions(provenance=job.upload.provenance),
                watcher=Watcher(record=lambda record: self._queue.record(job, record)),
            )
        except StoreLocked:
            # A command writes, and may do so for hours; what was uploaded waits for it.
            self._queue.release(job)
            return
        except OpenbookError as error:
            self._queue.finish(job, "failed", None, str(error))
        except Exception as error:
            log.exception("The job %s failed", job.id)
            self._queue.finish(job, "failed", None, f"An unexpected error: {type(error).__name__}: {error}")
        except BaseException:
            self._queue.release(job)
            raise
        else:
            self._queue.finish(job, *_ending(summary))
        self._spool.drop(job.id)

    def _drop_leftovers(self) -> None:
        """Remove files of jobs that were never queued, or were cancelled."""
        needed = self._queue.unfinished()
        for job_id in self._spool.job_ids():
            if job_id not in needed and self._spool.is_old(job_id):
                self._spool.drop(job_id)


def _ending(summary: Summary) -> tuple[JobStatus, Summary, str | None]:
    taken = summary.added + summary.updated + summary.unchanged + summary.duplicate
    if summary.failed and not taken:
        return "failed", summary, "No document of it could be taken in; `records` says why."
    return "done", summary, None


def main(arguments: Sequence[str]) -> None:
    """Work on the queue of a store, unless another process does."""
    store, embedder, parent = Path(arguments[0]), arguments[1] or None, int(arguments[2])
    end_with_parent(parent)
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    code = 0
    try:
        with FileLock(Database(store).folder / "worker.lock", timeout=0):
            Worker(store, embedder).run()
    except Timeout:
        code = ANOTHER_WORKS
    except SystemExit:
        log.debug("Ended by the server")
    # Taking the numeric libraries down in good order would take longer than a server that ends should wait.
    logging.shutdown()
    os._exit(code)


def _exit(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
