"""Dense retrieval: the passages whose vectors point the way of the question's."""

from __future__ import annotations

import heapq

from indexer.search.asked import Asked, Ranking

BLOCK = 4096
"""Vectors of the past that are in memory at once."""


def find(asked: Asked, wanted: int) -> Ranking:
    """Return chunks with their cosine similarity to the question."""
    if asked.scope.as_of is not None:
        return _in_the_store(asked, wanted)
    among = None if asked.scope.is_current_whole else asked.ids
    return asked.snapshot.search(asked.connection, asked.vector, wanted, among)


def _in_the_store(asked: Asked, wanted: int) -> Ranking:
    """Compare with every vector of the scope: the published index holds those of current chunks alone."""
    best: list[tuple[float, int]] = []
    for start in range(0, len(asked.ids), BLOCK):
        ids, vectors = asked.vectors_of(asked.ids[start : start + BLOCK])
        scores = vectors @ asked.vector
        pairs = ((float(score), -int(id_)) for id_, score in zip(ids, scores, strict=True))
        best = heapq.nlargest(wanted, [*best, *pairs])
    return tuple((-id_, score) for score, id_ in best)
