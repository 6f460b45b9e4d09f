"""Keeps an engine process alive: a crash is followed by a new start, a few times, with growing pauses.

When the first start fails, nothing is tried again, because the cause is the model or the machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

import terminal
from app.errors import EngineFailed

PAUSES_SECONDS = (1.0, 5.0, 15.0)
"""Before the first, second and third restart; a crash after the last one is final."""
STABLE_SECONDS = 600.0
"""An engine that ran this long has recovered: the next crash counts as the first again."""


class Process(Protocol):
    """What is supervised."""

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""

    def wait_until_ready(self) -> None:
        """Return when it answers; raise `EngineFailed` where it never will."""

    def log_tail(self) -> str:
        """Return the last lines of its log and the log's path."""

    def stop(self) -> None:
        """End it."""


class Supervisor:
    """Holds the running engine process. `start` and `stop` belong to one thread, `problem` may be read by any."""

    def __init__(
        self,
        launch: Callable[[], Process],
        pauses_seconds: tuple[float, ...] = PAUSES_SECONDS,
        poll_seconds: float = 0.5,
    ) -> None:
        """Take the function that starts a process."""
        self._launch = launch
        self._pauses = pauses_seconds
        self._poll_seconds = poll_seconds
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._process: Process | None = None
        self._thread: threading.Thread | None = None
        self.problem: str | None = "The engine is starting."
        """Why no engine answers at the moment; None while one does."""
        self.failure: EngineFailed | None = None
        """Why the first start failed."""

    def start(self, on_ready: Callable[[], None], on_failure: Callable[[], None]) -> None:
        """Start the engine in the background and watch it from then on.

        Args:
            on_ready: Called once, when the engine answers for the first time.
            on_failure: Called where the first start failed; `failure` then says why.
        """
        self._thread = threading.Thread(
            target=self._run, args=(on_ready, on_failure), name="engine-supervisor", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End the engine; returns when its processes are gone. Safe at any moment, also during a start."""
        self._stopping.set()
        with self._lock:
            if self._process is not None:
                self._process.stop()
        if self._thread is not None:
            self._thread.join()

    def _start_process(self) -> Process:
        with self._lock:
            if self._stopping.is_set():
                raise EngineFailed("The engine was stopped.")
            self._process = self._launch()
            return self._process

    def _run(self, on_ready: Callable[[], None], on_failure: Callable[[], None]) -> None:
        try:
            self._start_process().wait_until_ready()
        except EngineFailed as error:
            if not self._stopping.is_set():
                self.failure = error
                self.problem = "The engine could not be started."
                on_failure()
            return
        self.problem = None
        on_ready()
        self._watch()

    def _watch(self) -> None:
        restarts, ran_seconds = 0, 0.0
        while not self._stopping.wait(self._poll_seconds):
            ran_seconds += self._poll_seconds
            assert self._process is not None
            if self._process.is_running:
                continue
            restarts = 0 if ran_seconds > STABLE_SECONDS else restarts
            if restarts == len(self._pauses):
                self.problem = f"The engine died {restarts + 1} times and is not started again."
                terminal.note(f"{self.problem} {self._process.log_tail()}")
                return
            self._restart(restarts)
            restarts, ran_seconds = restarts + 1, 0.0

    def _restart(self, restarts: int) -> None:
        assert self._process is not None
        pause = self._pauses[restarts]
        self.problem = f"The engine died and is being started again ({restarts + 1} of {len(self._pauses)})."
        terminal.note(f"{self.problem} {self._process.log_tail()}")
        self._process.stop()
        if self._stopping.wait(pause):
            return
        try:
            self._start_process().wait_until_ready()
        except EngineFailed as error:
            if not self._stopping.is_set():
                terminal.note(str(error))
                self._process.stop()
            return
        self.problem = None
        terminal.note("The engine answers again.")
