"""From a question to the passages that are shown: find, look up, sift, arrange, choose.

What the retriever finds is looked up in the store, so that nothing that is gone is shown. As long as sifting leaves too
few, the retriever is asked for more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from indexer.embedding.fingerprint import Vectors
from indexer.errors import SearchRefused
from indexer.search import RETRIEVERS, Retriever
from indexer.search.asked import Asked, Ranking
from indexer.search.currency import all_superseding, current_first, mark
from indexer.search.diversity import maximal_marginal_relevance
from indexer.search.duplicates import near_duplicates
from indexer.search.hits import Hit, Reason, hit
from indexer.search.options import SearchOptions
from terminal import did_you_mean

Rerank = Callable[[str, Sequence[str]], npt.NDArray[np.float32]]
"""A question and passages to their scores, shape (passages,)."""

LEAST_CANDIDATES = 20
RERANKED = 50
"""How many passages a cross-encoder reads, where no more are wanted."""
DEEPEST = 1000
"""How many candidates are looked at to find enough that are no copies, above the threshold or of other documents."""


def retriever_named(name: str) -> Retriever:
    """Return a retriever.

    Raises:
        SearchRefused: there is none of that name.
    """
    if name not in RETRIEVERS:
        raise SearchRefused(
            f"There is no retriever {name!r}.{did_you_mean(name, RETRIEVERS)} Known: {', '.join(RETRIEVERS)}."
        )
    return RETRIEVERS[name]


@dataclass(frozen=True)
class Pipeline:
    """One way of searching."""

    top_k: int
    options: SearchOptions
    threshold: float | None = None
    """The least cosine similarity with the question."""
    rerank: Rerank | None = None

    def search(self, asked: Asked) -> tuple[tuple[Hit, ...], Reason | None]:
        """Return the passages for a question, best first, and where there are none the reason."""
        found, ranking = self._candidates(asked)
        if self.rerank is not None and found:
            found = self._arranged(asked, _reranked(self.rerank, asked.question, found[: self._pool]))
        if self.options.mmr is not None:
            found = self._diverse(asked, found, self.options.mmr)
        hits = tuple(self._near_the_best(found[: self.top_k]))
        return hits, None if hits else self._reason(asked, ranking)

    @property
    def _pool(self) -> int:
        """How many passages the last step chooses from."""
        if self.rerank is not None:
            return max(self.top_k, RERANKED)
        if self.options.mmr is not None:
            return max(4 * self.top_k, LEAST_CANDIDATES)
        return self.top_k

    def _candidates(self, asked: Asked) -> tuple[list[Hit], Ranking]:
        retrieve = retriever_named(self.options.retriever)
        wanted = max(2 * self._pool, LEAST_CANDIDATES)
        while True:
            ranking = retrieve(asked, wanted)
            live = self._looked_up(asked, ranking)
            found = self._arranged(asked, self._near_enough(live))
            distinct = sum(hit.duplicate_of is None for hit in found)
            deep_enough = wanted >= DEEPEST and len(live) >= self._pool
            if distinct >= self._pool or len(ranking) < wanted or deep_enough or self._below(ranking):
                return found, ranking
            wanted *= 4

    def _looked_up(self, asked: Asked, ranking: Ranking) -> list[Hit]:
        """Return what of the ranking is in the store, with its similarity to the question where known or needed."""
        live = asked.scope.passages(asked.connection, [id_ for id_, _ in ranking])
        if self.options.retriever == "dense":
            return [hit(live[id_], score, score) for id_, score in ranking if id_ in live]
        hits = [hit(live[id_], score) for id_, score in ranking if id_ in live]
        if self.threshold is None and self.options.mmr is None and self.options.margin is None:
            return hits
        kept, vectors = _with_vectors(asked, hits)
        cosines = vectors @ asked.vector
        return [replace(hit, similarity=float(cosine)) for hit, cosine in zip(kept, cosines, strict=True)]

    def _near_enough(self, hits: list[Hit]) -> list[Hit]:
        if self.threshold is None:
            return hits
        return [hit for hit in hits if hit.similarity is not None and hit.similarity >= self.threshold]

    def _near_the_best(self, hits: list[Hit]) -> list[Hit]:
        """Return the first hit, and those that are hardly less similar to the question than it."""
        if self.options.margin is None or not hits:
            return hits
        best, *others = hits
        least = (best.similarity or 0.0) - self.options.margin
        return [best, *(hit for hit in others if (hit.similarity or 0.0) >= least)]

    def _below(self, ranking: Ranking) -> bool:
        """Whether all that a dense ranking would go on with is below the threshold."""
        if self.threshold is None or self.options.retriever != "dense":
            return False
        return bool(ranking) and ranking[-1][1] < self.threshold

    def _arranged(self, asked: Asked, hits: list[Hit]) -> list[Hit]:
        """Put what holds now before what it supersedes, copies behind all others, and keep to the cap."""
        superseding = asked.scope.superseding(asked.connection, {hit.document_id for hit in hits})
        hits = mark(hits, superseding)
        if self.options.superseded == "drop":
            hits = [hit for hit in hits if not all_superseding(hit.document_id, superseding)]
        elif self.options.superseded == "demote":
            hits = current_first(hits, superseding)
        if self.options.collapse and self.top_k > 1:
            hits = self._collapsed(asked, hits)
        return hits if self.options.per_document is None else _capped(hits, self.options.per_document)

    def _collapsed(self, asked: Asked, hits: list[Hit]) -> list[Hit]:
        hits, vectors = _with_vectors(asked, hits)
        copies = near_duplicates([hit.text for hit in hits], vectors, asked.question, self._pool)
        distinct = [_as_no_copy(hit) for position, hit in enumerate(hits) if position not in copies]
        return distinct + [replace(hits[at], duplicate_of=hits[of].chunk_id) for at, of in copies.items()]

    def _diverse(self, asked: Asked, hits: list[Hit], weight: float) -> list[Hit]:
        distinct, vectors = _with_vectors(asked, [hit for hit in hits if hit.duplicate_of is None])
        relevance = np.array([hit.similarity for hit in distinct], dtype=np.float32)
        chosen = maximal_marginal_relevance(relevance, vectors, weight, self.top_k)
        return [distinct[at] for at in chosen] + [hit for hit in hits if hit.duplicate_of is not None]

    def _reason(self, asked: Asked, ranking: Ranking) -> Reason:
        if ranking and self.threshold is not None:
            return "below_threshold"
        if not asked.ids:
            return "empty_collection" if asked.scope.is_current_whole else "filter_matches_nothing"
        return "no_word_found"


def _with_vectors(asked: Asked, hits: list[Hit]) -> tuple[list[Hit], Vectors]:
    """Return the passages with their vectors in the same order; one that was deleted a moment ago is left out."""
    ids, vectors = asked.vectors_of(hit.chunk_id for hit in hits)
    rows = {int(id_): row for row, id_ in enumerate(ids)}
    kept = [hit for hit in hits if hit.chunk_id in rows]
    return kept, vectors[[rows[hit.chunk_id] for hit in kept]]


def _as_no_copy(hit: Hit) -> Hit:
    return hit if hit.duplicate_of is None else replace(hit, duplicate_of=None)


def _reranked(rerank: Rerank, question: str, hits: list[Hit]) -> list[Hit]:
    scores = rerank(question, [f"{hit.context}\n{hit.text}" if hit.context else hit.text for hit in hits])
    scored = [replace(hit, score=float(score)) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: (-hit.score, hit.chunk_id))


def _capped(hits: list[Hit], most: int) -> list[Hit]:
    taken: dict[str, int] = {}
    kept = []
    for each in hits:
        taken[each.document_id] = taken.get(each.document_id, 0) + 1
        if taken[each.document_id] <= most:
            kept.append(each)
    return kept
