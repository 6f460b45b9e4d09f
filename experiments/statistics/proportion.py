"""The interval of a proportion: Wilson's (1927), which stays within 0 and 1 and is honest for few questions.

Questions about the same fact are not independent. The interval is therefore that of n / deff questions, where the
design effect deff is the variance of the mean with clusters over the variance without (Korn and Graubard 1998 use the
same effective size with Clopper-Pearson's interval). With clusters of one question it is Wilson's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np

Z_95 = NormalDist().inv_cdf(0.975)


def wilson(successes: float, n: float, z: float = Z_95) -> tuple[float, float]:
    """Return Wilson's score interval of `successes` in `n` trials; neither need be a whole number.

    (p + z²/2n ± z·sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n), 0 to 1. With 5 of 10: 0.237 to 0.763.
    """
    p = successes / n
    centre = p + z * z / (2 * n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, (centre - half) / (1 + z * z / n)), min(1.0, (centre + half) / (1 + z * z / n))


def design_effect(values: np.ndarray, clusters: Sequence[str]) -> float:
    """Return how many clustered questions weigh as much as one independent one: at least 1.

    deff = [C / (C - 1) · Σ_c (Σ_i∈c (x_i - m))²] / [n / (n - 1) · Σ_i (x_i - m)²] for C clusters of n values of mean m;
    1 where all values agree or all lie in one cluster.
    """
    residuals = values - values.mean()
    spread = float(residuals @ residuals)
    _, membership = np.unique(np.asarray(clusters), return_inverse=True)
    count = int(membership.max()) + 1
    if spread == 0.0 or count == 1:
        return 1.0
    sums = np.bincount(membership, weights=residuals)
    clustered = count / (count - 1) * float(sums @ sums)
    independent = len(values) / (len(values) - 1) * spread
    return max(1.0, clustered / independent)


def proportion_interval(values: np.ndarray, clusters: Sequence[str]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of `values`, each 0 or 1, given the cluster of each."""
    n = len(values) / design_effect(values, clusters)
    return wilson(float(values.mean()) * n, n)
