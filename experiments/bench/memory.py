"""The memory of a process while something goes on: is it flat?"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

MIB = 2**20
LEAST_SAMPLES = 8


@dataclass(frozen=True)
class Memory:
    """Resident memory in MiB over a while."""

    first_mib: float
    last_mib: float
    most_mib: float
    growth_mib: float | None
    """What the second half would add in as much time again as the whole took, by least squares; None for a while that
    is too short to tell. The first half fills pools and caches and is left out."""

    @classmethod
    def of(cls, samples: Sequence[tuple[float, float]]) -> Memory:
        """Sum up samples of (seconds, MiB), of which there must be one at least."""
        sizes = [mib for _, mib in samples]
        half = samples[len(samples) // 2 :]
        growth = None
        if len(half) >= LEAST_SAMPLES:
            slope = statistics.linear_regression([seconds for seconds, _ in half], [mib for _, mib in half]).slope
            growth = slope * (samples[-1][0] - samples[0][0])
        return cls(sizes[0], sizes[-1], max(sizes), growth)


class MemoryWatch:
    """Samples the resident memory of a process from a thread of its own while the context lasts."""

    def __init__(self, pid: int, with_children: bool = False, every_s: float = 0.5) -> None:
        """Take the process, which must live while it is watched."""
        self._process = psutil.Process(pid)
        self._with_children = with_children
        self._every_s = every_s
        self._samples: list[tuple[float, float]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory-watch", daemon=True)

    def __enter__(self) -> MemoryWatch:
        self._sample()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._sample()

    def memory(self) -> Memory:
        """Sum up what was sampled so far."""
        return Memory.of(self._samples)

    def _watch(self) -> None:
        while not self._over.wait(self._every_s):
            self._sample()

    def _sample(self) -> None:
        family = [self._process, *(self._process.children(recursive=True) if self._with_children else ())]
        size = 0
        for process in family:
            try:
                size += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        self._samples.append((time.monotonic(), size / MIB))


def served_process(url: str) -> int:
    """Return the process id of the `openbook serve` that this process started for a URL.

    Raises:
        LookupError: There is none.
    """
    port = url.rpartition(":")[2]
    for child in psutil.Process().children():
        words = child.cmdline()
        if "serve" in words and port in words:
            return child.pid
    raise LookupError(f"no `openbook serve` was started for {url}")
