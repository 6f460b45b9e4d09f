"""Latencies of many requests in four figures, none of which says more than the requests can.

A percentile needs at least ten requests beyond it: p90 a hundred requests, p99 a thousand. With fewer the maximum is
what can be said of the slowest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

BEYOND = 10


@dataclass(frozen=True)
class Latencies:
    """Milliseconds; a percentile is the least value that so many of a hundred do not exceed (nearest rank)."""

    requests: int
    p50: float
    p90: float | None
    """None for fewer than 100 requests."""
    p99: float | None
    """None for fewer than 1,000 requests."""
    maximum: float

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> Latencies:
        """Sum up.

        Raises:
            ValueError: There is nothing to sum up.
        """
        if not milliseconds:
            raise ValueError("no requests to sum up")
        ordered = sorted(milliseconds)
        return cls(
            requests=len(ordered),
            p50=_nearest_rank(ordered, 0.5),
            p90=_nearest_rank(ordered, 0.9) if len(ordered) >= 10 * BEYOND else None,
            p99=_nearest_rank(ordered, 0.99) if len(ordered) >= 100 * BEYOND else None,
            maximum=ordered[-1],
        )

    def cells(self) -> tuple[str, str, str]:
        """Return p50, p90 and p99 for a table; instead of a p99 that cannot be told, the maximum, which says so."""
        tail = f"max {self.maximum:,.0f}" if self.p99 is None else f"{self.p99:,.0f}"
        return f"{self.p50:,.0f}", "-" if self.p90 is None else f"{self.p90:,.0f}", tail


def _nearest_rank(ordered: Sequence[float], share: float) -> float:
    return ordered[math.ceil(share * len(ordered)) - 1]
