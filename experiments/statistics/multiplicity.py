"""Several tests at once: Holm's correction (1979)."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the adjusted p of each test, in the order given; the chance of any false find stays at the level.

    Sorted upwards, the i-th of m becomes max over j ≤ i of (m - j + 1) · p_j, at most 1: 0.01, 0.04 and 0.03 become
    0.03, 0.06 and 0.06.
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)
