"""The server's hold on the process that takes uploads in: there while there is work, started again when it dies."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

from app.errors import QueueUnusable
from app.jobs.queue import JobQueue

log = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]
LOOK_SECONDS = 5.0
"""How often it looks for work that nobody told of: that of another server of the same store."""
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 60.0
"""Pauses double while the process ends with an error."""
END_SECONDS = 5.0
ANOTHER_WORKS = 75
"""What the process ends with where that of another server of the store is at work."""


class Runner:
    """A thread that keeps the process running while jobs wait."""

    def __init__(self, store: Path, queue: JobQueue, embedder: str | None) -> None:
        """Take the store, its queue, and the embedding model; None takes the one of each collection."""
        self._command = [sys.executable, "-P", "-m", "app.jobs.worker", str(store.absolute()), embedder or ""]
        self._queue = queue
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Go on with what an earlier server has left, and with what comes."""
        # The process belongs to the thread that starts it: the system ends it with that thread.
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Say that there is work."""
        self._woken.set()

    def stop(self) -> None:
        """End the process. What it was busy with is gone on with after the next start."""
        self._stopping.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            self._woken.clear()
            if not self._has_work():
                self._woken.wait(LOOK_SECONDS)
            elif (code := self._work()) == 0:
                pause = FIRST_PAUSE_SECONDS
            elif code == ANOTHER_WORKS:
                self._stopping.wait(LOOK_SECONDS)
            elif not self._stopping.is_set():
                log.error("The process that takes uploads in ended with %s; it is started again in %g s.", code, pause)
                self._stopping.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _has_work(self) -> bool:
        try:
            return self._queue.has_work()
        except QueueUnusable:
            log.exception("Uploads cannot be taken in")
            return False

    def _work(self) -> int:
        """Run the process to its end and return its exit code."""
        paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        process = subprocess.Popen(
            [*self._command, str(os.getpid())],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        while not self._stopping.is_set():
            try:
                return process.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
        process.terminate()
        try:
            return process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
