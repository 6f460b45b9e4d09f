"""Hybrid retrieval: dense and lexical rankings joined by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.search import dense, lexical
from indexer.search.asked import Asked, Ranking

K = 60
"""The constant of the paper: how little the first ranks stand out."""
DEPTH = 50
"""How deep each ranking is read at least, so that few wanted passages do not change their order."""


def find(asked: Asked, wanted: int) -> Ranking:
    """Return the chunks of both rankings with the sum of their reciprocal ranks.

    A ranking that found nothing, for want of a common word, adds nothing and takes nothing from the other.
    """
    depth = max(wanted, DEPTH)
    return reciprocal_rank_fusion([[id_ for id_, _ in leg.find(asked, depth)] for leg in (dense, lexical)])[:wanted]


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], k: int = K) -> Ranking:
    """Join rankings of ids, each best first: an id scores 1 / (k + rank) in each that holds it, ranks from 1."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, id_ in enumerate(ranking, 1):
            scores[id_] = scores.get(id_, 0.0) + 1 / (k + rank)
    return tuple(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))
