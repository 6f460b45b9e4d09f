"""The memory of all engine processes while a rollout runs."""

from __future__ import annotations

import threading
from types import TracebackType

import psutil

SECONDS_BETWEEN = 1.0


class MemoryUse:
    """Reads once a second how much memory the descendants of this process have."""

    def __init__(self) -> None:
        """Read once."""
        self.before = self.peak = engine_bytes()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read_on, name="memory-use", daemon=True)

    def __enter__(self) -> MemoryUse:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()

    def _read_on(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN):
            self.peak = max(self.peak, engine_bytes())


def engine_bytes() -> int:
    """Return the proportional share of memory (PSS) of all descendants, in bytes; pages that are shared count once."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total
