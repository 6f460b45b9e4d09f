"""Which questions are worked on, which wait, and which are refused at once because they would wait too long."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.errors import Overloaded

MEMORY = 0.1
"""The weight of the newest question in the moving average of how long one takes."""
MOST_RETRY_SECONDS = 60


class Admission:
    """Slots for questions and a short queue before them, first come, first served. For one event loop."""

    def __init__(self, slots: int, queue: int) -> None:
        """Take how many questions are worked on at the same time, and how many may wait for that."""
        self._slots = slots
        self._most_present = slots + queue
        self._free = asyncio.Semaphore(slots)
        self._present = 0
        self._seconds = 1.0

    @property
    def present(self) -> int:
        """How many questions are worked on or wait."""
        return self._present

    @property
    def working(self) -> int:
        """How many questions are worked on."""
        return min(self._present, self._slots)

    @property
    def waiting(self) -> int:
        """How many questions wait."""
        return self._present - self.working

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot for the block.

        Raises:
            Overloaded: The queue is full. The error says when it is worth trying again.
        """
        if self._present >= self._most_present:
            raise Overloaded(
                f"{self._slots} questions are being answered and {self.waiting} wait. Try again later.",
                self._retry_after_s(),
            )
        self._present += 1
        try:
            async with self._free:
                started = time.monotonic()
                yield
                self._seconds += MEMORY * (time.monotonic() - started - self._seconds)
        finally:
            self._present -= 1

    def _retry_after_s(self) -> int:
        """Return the seconds until half of those who are present will be gone."""
        rounds = self._present / self._slots / 2
        return min(MOST_RETRY_SECONDS, max(1, math.ceil(rounds * self._seconds)))
