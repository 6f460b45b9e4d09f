"""From a request to its passages: search as it asks, and number what is found."""

from __future__ import annotations

from collections.abc import Sequence

from app.access.guarded_index import GuardedIndex
from app.asked import Retrieved
from app.schemas.answer import AnswerRequest
from app.schemas.passage import Passage
from indexer.search.hits import Hit
from indexer.search.options import SearchOptions


def retrieve(index: GuardedIndex, request: AnswerRequest) -> Retrieved:
    """Return the passages that a request asks for; a closed book has none.

    Raises:
        indexer.errors.NotFound: The index holds no such collection or passage.
        indexer.errors.SearchRefused: The options ask for what cannot be done.
    """
    if request.retriever == "none":
        return Retrieved()
    if request.retriever == "given":
        return Retrieved(_label(index.passages(request.passage_ids)))
    result = index.search(request.collection, request.question, request.top_k, _options(request))
    return Retrieved(
        _label(_in_order(result.hits, request)),
        result.generation,
        result.revision,
        result.reason,
        embed_seconds=result.embed_seconds,
    )


def _options(request: AnswerRequest) -> SearchOptions:
    return SearchOptions(
        retriever=request.retriever,
        filter=request.filter,
        as_of=request.as_of,
        min_score=request.min_score,
        margin=request.margin,
        mmr=request.mmr,
        collapse=request.collapse,
        per_document=request.per_document,
        superseded=request.superseded,
    )


def _in_order(hits: Sequence[Hit], request: AnswerRequest) -> Sequence[Hit]:
    if request.passage_order == "rank":
        return hits
    return sorted(hits, key=lambda hit: (hit.document_id, hit.start))


def _label(hits: Sequence[Hit]) -> tuple[Passage, ...]:
    """Number the passages from 1, in the order of the prompt."""
    return tuple(
        Passage(
            label=label,
            id=hit.chunk_id,
            document_id=hit.document_id,
            title=hit.title,
            source=hit.source,
            text=hit.text,
            start=hit.start,
            end=hit.end,
            score=hit.score,
            context=hit.context,
            heading_path=hit.heading_path,
            page=hit.page,
            version=hit.version,
            authority=hit.authority,
            effective=hit.effective,
            superseded_by=hit.superseded_by,
        )
        for label, hit in enumerate(hits, 1)
    )
