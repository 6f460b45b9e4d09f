"""Token buckets: how many requests each caller may still send.

A bucket holds as many tokens as a minute allows and is filled evenly; each request takes one. Only what a bucket held
and when is kept, so that an idle caller costs nothing, and full buckets are forgotten.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

MOST_BUCKETS = 10_000


@dataclass(frozen=True)
class Taken:
    """What came of one request."""

    allowed: bool
    limit: int
    """Requests a minute."""
    remaining: int
    """How many may follow at once."""
    reset_s: int
    """Seconds until the bucket is full again."""
    retry_after_s: int
    """Seconds until there is a token; 0 where there is one."""


class Buckets:
    """The buckets of all callers."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the clock, in seconds."""
        self._clock = clock
        self._held: dict[str, tuple[float, float, int]] = {}
        """Caller to tokens, the time at which there were so many, and the caller's limit."""

    def take(self, caller: str, per_minute: int) -> Taken:
        """Take one token out of a caller's bucket, if there is one."""
        now = self._clock()
        rate = per_minute / 60
        tokens, since, _ = self._held.pop(caller, (float(per_minute), now, per_minute))
        tokens = min(float(per_minute), tokens + (now - since) * rate)
        allowed = tokens >= 1
        tokens -= allowed
        # Put back last: the dictionary's order is that of use.
        self._held[caller] = (tokens, now, per_minute)
        if len(self._held) > MOST_BUCKETS:
            self._forget(now)
        return Taken(
            allowed=allowed,
            limit=per_minute,
            remaining=int(tokens),
            reset_s=math.ceil((per_minute - tokens) / rate),
            retry_after_s=0 if allowed else max(1, math.ceil((1 - tokens) / rate)),
        )

    def _forget(self, now: float) -> None:
        """Drop the buckets that are full by now, and if there are none the one unused for longest."""
        full = [
            who for who, (tokens, since, limit) in self._held.items() if tokens + (now - since) * limit / 60 >= limit
        ]
        for caller in full or [next(iter(self._held))]:
            del self._held[caller]
