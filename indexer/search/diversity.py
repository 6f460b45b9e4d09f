"""Maximal marginal relevance (Carbonell and Goldstein 1998): near the question, and unlike what was taken before."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from indexer.embedding.fingerprint import Vectors


def maximal_marginal_relevance(
    relevance: npt.NDArray[np.float32], vectors: Vectors, weight: float, wanted: int
) -> list[int]:
    """Choose up to `wanted` positions one by one, each the one with the greatest marginal relevance.

    That is `weight` times its relevance less `1 - weight` times its greatest cosine with one chosen before; of equal
    ones the first is taken.

    Args:
        relevance: cosine with the question, shape (n,).
        vectors: of unit length, shape (n, dimension).
        weight: 0 to 1.
        wanted: how many.
    """
    chosen: list[int] = []
    redundancy = np.zeros(len(relevance), dtype=np.float32)
    left = np.ones(len(relevance), dtype=bool)
    while left.any() and len(chosen) < wanted:
        marginal = weight * relevance - (1 - weight) * redundancy
        best = int(np.argmax(np.where(left, marginal, -np.inf)))
        similar = vectors @ vectors[best]
        redundancy = np.maximum(redundancy, similar) if chosen else similar
        chosen.append(best)
        left[best] = False
    return chosen
