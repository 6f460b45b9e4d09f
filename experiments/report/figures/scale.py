"""From a quantity to a place on an axis, and the round numbers written along it."""

from __future__ import annotations

import math
from dataclasses import dataclass

LOGARITHMIC_FROM = 8.0
"""Largest over smallest value from which an axis is logarithmic."""


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high` over the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a value; one beyond the axis lies at its end."""
        low, high, place = self.low, self.high, min(max(value, self.low), self.high)
        if self.logarithmic:
            low, high, place = math.log(low), math.log(high), math.log(place)
        return self.start + (place - low) / (high - low) * (self.end - self.start)

    def ticks(self, most: int = 5) -> list[float]:
        """Return round numbers on the axis, `most` of them at most."""
        if self.logarithmic:
            return _logarithmic_ticks(self.low, self.high, most)
        step = nice_step((self.high - self.low) / most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [step * index for index in range(first, last + 1)]


def cost_scale(values: list[float], start: float, end: float) -> Scale:
    """Return an axis for sums: logarithmic where they differ by an order of magnitude, else from 0."""
    low, high = min(values), max(values)
    if low > 0 and high / low >= LOGARITHMIC_FROM:
        return Scale(low / 1.6, high * 1.6, start, end, logarithmic=True)
    return Scale(0.0, high * 1.2 if high > 0 else 1.0, start, end)


def nice_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _logarithmic_ticks(low: float, high: float, most: int) -> list[float]:
    for factors in ((1, 2, 5), (1, 3), (1,)):
        exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [factor * 10.0**exponent for exponent in exponents for factor in factors]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) <= most:
            return inside
    return inside[:: math.ceil(len(inside) / most)]
