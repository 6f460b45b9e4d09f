"""The retrievers: for a question, the chunks that may answer it, best first."""

from __future__ import annotations

from typing import Protocol

from indexer.search import dense, hybrid, lexical
from indexer.search.asked import Asked, Ranking


class Retriever(Protocol):
    """Finds chunks. May return chunks that are gone; the caller looks each of them up."""

    def __call__(self, asked: Asked, wanted: int) -> Ranking:
        """Return up to `wanted` pairs of chunk id and score, best first; fewer only where there are no more."""


RETRIEVERS: dict[str, Retriever] = {
    "dense": dense.find,
    "lexical": lexical.find,
    "hybrid": hybrid.find,
}
