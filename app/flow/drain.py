"""The end of a server in good order: nothing new, what is under way is finished, then everything stops."""

from __future__ import annotations

import time


class Drain:
    """Counts the requests under way, and knows when the server may stop.

    `begin` may be called from a signal handler; the rest belongs to the event loop.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        """Take how long requests that are under way may go on."""
        self._seconds = seconds
        self._ends_at: float | None = None
        self.under_way = 0

    @property
    def has_begun(self) -> bool:
        """Whether the server is ending."""
        return self._ends_at is not None

    @property
    def is_over(self) -> bool:
        """Whether nothing is under way any more, or the time is over."""
        return self._ends_at is not None and (self.under_way == 0 or time.monotonic() >= self._ends_at)

    def begin(self) -> None:
        """Take nothing new from now on."""
        if self._ends_at is None:
            self._ends_at = time.monotonic() + self._seconds
