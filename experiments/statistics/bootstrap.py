"""Intervals by the cluster bootstrap: whole clusters are drawn again, with replacement, and the mean taken each time.

A cluster is the questions that share a fact (or a document): they stand or fall together, and drawing them one by one
would make the interval too narrow (Efron and Tibshirani 1993; Miller 2024, arXiv 2411.00640, for evaluations).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RESAMPLES = 10_000
SEED = 20_160_616
_ROWS_AT_ONCE = 500


def mean_interval(values: np.ndarray, clusters: Sequence[str]) -> tuple[float, float]:
    """Return the 95 % percentile interval of the mean, given the cluster of each value. Seeded: always the same."""
    low, high = np.quantile(_resampled_means(*_cluster_totals(values, clusters)), (0.025, 0.975))
    return float(low), float(high)


def difference_interval(differences: np.ndarray, clusters: Sequence[str]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of paired differences, each -1 to 1.

    Where hardly any pair differs, resampling alone is sure of too much: eight pairs that all agree would give the
    interval 0 to 0. As Bonett and Price (2012) do for paired proportions, one pair in each direction is added first.
    """
    sums, sizes = _cluster_totals(differences, clusters)
    means = _resampled_means(np.append(sums, (1.0, -1.0)), np.append(sizes, (1, 1)))
    low, high = np.quantile(means, (0.025, 0.975))
    mean = float(differences.mean())
    return min(float(low), mean), max(float(high), mean)


def _cluster_totals(values: np.ndarray, clusters: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    _, membership = np.unique(np.asarray(clusters), return_inverse=True)
    return np.bincount(membership, weights=values), np.bincount(membership)


def _resampled_means(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Draw as many clusters as there are, RESAMPLES times, and return the mean of each draw."""
    generator = np.random.default_rng(SEED)
    even = np.full(len(sums), 1 / len(sums))
    means = []
    for _ in range(0, RESAMPLES, _ROWS_AT_ONCE):
        draws = generator.multinomial(len(sums), even, size=_ROWS_AT_ONCE)
        means.append((draws * sums).sum(axis=1) / (draws * sizes).sum(axis=1))
    return np.concatenate(means)
