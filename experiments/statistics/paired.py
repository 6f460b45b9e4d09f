"""Tests of a paired difference: did the same questions come out differently in two arms?"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

FLIPS = 10_000
SEED = 19_350_101
_ROWS_AT_ONCE = 500


def mcnemar(a_only: int, b_only: int) -> float:
    """Return the two-sided p of McNemar's exact test (1947; exact form: the binomial test of b in b + c at 1/2).

    `a_only` and `b_only` count the questions that only one arm got right; the others say nothing about a difference.
    p = min(1, 2 · Σ_{k ≤ min(b, c)} C(b + c, k) / 2^(b + c)). With 1 against 5: 14/64 = 0.21875.
    """
    discordant = a_only + b_only
    tail = sum(comb(discordant, k) for k in range(min(a_only, b_only) + 1))
    return min(1.0, 2 * tail / (1 << discordant))


def sign_flip(differences: np.ndarray, clusters: Sequence[str]) -> float:
    """Return the two-sided p of a sign-flip permutation test of the mean difference.

    If the arms were alike, each cluster's difference could as well have had the other sign. p = (1 + flips whose sum is
    at least as far from 0) / (1 + flips), so it is never 0 (Phipson and Smyth 2010). Seeded.
    """
    _, membership = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(membership, weights=differences)
    sums = sums[sums != 0.0]
    observed = abs(float(sums.sum()))
    generator = np.random.default_rng(SEED)
    extreme = 0
    for _ in range(0, FLIPS, _ROWS_AT_ONCE):
        signs = generator.integers(0, 2, size=(_ROWS_AT_ONCE, len(sums))) * 2 - 1
        # A sum that equals the observed one but for rounding counts as equal.
        extreme += int(np.count_nonzero(np.abs((signs * sums).sum(axis=1)) >= observed - 1e-9))
    return (1 + extreme) / (1 + FLIPS)
