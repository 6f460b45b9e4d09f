"""What a search finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from indexer.store.records import PassageRow

Reason = Literal["empty_collection", "filter_matches_nothing", "no_word_found", "below_threshold"]
"""Why nothing was found."""


@dataclass(frozen=True)
class Hit:
    """A passage that was found."""

    chunk_id: int
    document_id: str
    title: str
    source: str
    text: str
    start: int
    """Character offset of the passage in the document's text."""
    end: int
    tokens: int
    """Its length in tokens of the embedder."""
    score: float
    """What it was ranked by, more is better. Dense: cosine similarity with the question, -1 to 1. Lexical: BM25, above
    0. Hybrid: sum of reciprocal ranks. Reranked: what the cross-encoder says. 1 where it was asked for by id."""
    context: str = ""
    """What stands above the passage in its document and is read with it, such as the header of its table."""
    heading_path: tuple[str, ...] = ()
    """The headings that it stands under, the outermost first."""
    page: int | None = None
    """The page that it begins on, from 1, where the format has pages."""
    version: int = 0
    """The key of the version of the document that it is cut from."""
    authority: int = 0
    effective: date | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    similarity: float | None = None
    """Cosine similarity with the question; None where the search did not need it."""
    superseded_by: tuple[str, ...] = ()
    """The documents of the collection that supersede its document, in the order of ids."""
    duplicate_of: int | None = None
    """The better passage of which it is a near-duplicate; such passages come behind all others."""


@dataclass(frozen=True)
class SearchResult:
    """The passages found for a question, best first."""

    hits: tuple[Hit, ...]
    generation: int
    """The generation that was searched."""
    revision: int = 0
    """The revision of the collection that was searched: what was committed up to it is known."""
    reason: Reason | None = None
    """Why there are no hits; None where there are."""
    min_score: float | None = None
    """The threshold that was applied."""
    embed_seconds: float = 0.0
    """How long the question was waited for to be embedded."""


def hit(passage: PassageRow, score: float, similarity: float | None = None) -> Hit:
    """Return a passage of the store as it was found."""
    return Hit(
        chunk_id=passage.id,
        document_id=passage.document_id,
        title=passage.title,
        source=passage.source,
        text=passage.text,
        start=passage.start,
        end=passage.end,
        tokens=passage.tokens,
        score=score,
        context=passage.context,
        heading_path=passage.heading_path,
        page=passage.page,
        version=passage.version,
        authority=passage.authority,
        effective=passage.effective,
        metadata=passage.metadata,
        similarity=similarity,
    )
