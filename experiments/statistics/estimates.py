"""The mean of a metric with its interval, alone and as a paired difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.results import Estimate
from experiments.statistics.bootstrap import difference_interval, mean_interval
from experiments.statistics.proportion import proportion_interval

DECIMALS = 6
"""Figures are rounded to this, far below their precision, so that a last bit never changes a file."""


def mean_estimate(values: Sequence[float], clusters: Sequence[str]) -> Estimate:
    """Return the mean of a metric with its 95 % interval: Wilson's for values of 0 and 1, by bootstrap for others."""
    array = np.asarray(values, dtype=float)
    interval = proportion_interval if is_binary(array) else mean_interval
    return rounded(float(array.mean()), *interval(array, clusters))


def difference_estimate(differences: Sequence[float], clusters: Sequence[str]) -> Estimate:
    """Return the mean of paired differences with its 95 % interval."""
    array = np.asarray(differences, dtype=float)
    return rounded(float(array.mean()), *difference_interval(array, clusters))


def is_binary(values: np.ndarray) -> bool:
    """Say whether every value is 0 or 1."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def rounded(value: float, low: float, high: float) -> Estimate:
    """Return an estimate to six decimals."""
    return Estimate(value=round(value, DECIMALS), low=round(low, DECIMALS), high=round(high, DECIMALS))
