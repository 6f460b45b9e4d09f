"""When requests come, and which: seeded, so that both sides of a comparison get the same."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def poisson(per_second: float, seconds: float, seed: int) -> tuple[float, ...]:
    """Return the moments, in seconds from the start, at which the requests of a Poisson process come.

    Args:
        per_second: The mean rate, above 0.
        seconds: The length of the process; nothing comes after it.
        seed: The same seed gives the same moments for a rate.
    """
    generator = random.Random(seed)
    moments: list[float] = []
    moment = generator.expovariate(per_second)
    while moment < seconds:
        moments.append(moment)
        moment += generator.expovariate(per_second)
    return tuple(moments)


def zipf(items: Sequence[Item], count: int, seed: int, exponent: float = 1.0) -> tuple[Item, ...]:
    """Draw items as people ask about subjects: the n-th most popular with a weight of 1 / n**exponent.

    Which item is how popular is drawn as well.
    """
    generator = random.Random(seed)
    ranked = list(items)
    generator.shuffle(ranked)
    weights = [1 / rank**exponent for rank in range(1, len(ranked) + 1)]
    return tuple(generator.choices(ranked, weights, k=count))
