"""What an answer rests on: passages, and the spans of them that it cites."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from app.schemas.schema import Schema

NothingFound = Literal["empty_collection", "filter_matches_nothing", "no_word_found", "below_threshold"]
"""Why a search found no passages."""


class Passage(Schema):
    """A chunk returned for a question."""

    label: int = Field(ge=1)
    """The number under which the prompt shows it."""
    id: int
    document_id: str
    title: str
    source: str
    text: str
    start: int
    """Character offset of the passage in the document's text."""
    end: int
    score: float
    """What it was ranked by: cosine similarity with the question (`dense`), BM25 (`lexical`) or the sum of reciprocal
    ranks (`hybrid`); 1 where the passage was given."""
    context: str = ""
    """What stands above it in its document and is read with it, such as the header of its table."""
    heading_path: tuple[str, ...] = ()
    """The headings that it stands under, the outermost first."""
    page: int | None = None
    """The page that it begins on, from 1, where the format has pages."""
    version: int = 0
    """The key of the version of the document that it is cut from."""
    authority: int = 0
    """How much its document is to be believed."""
    effective: date | None = None
    """The day from which its document holds."""
    superseded_by: tuple[str, ...] = ()
    """The documents that supersede its document."""


class DroppedPassage(Schema):
    """A passage that was found and is not part of the prompt."""

    id: int
    document_id: str
    score: float
    reason: Literal["budget"] = "budget"
    """`budget`: it did not fit into the model's context, and those before it are better."""


class Citation(Schema):
    """A span of a passage that the answer rests on, compared with the stored text of the document."""

    label: int
    passage_id: int
    document_id: str
    version: int = 0
    """The key of the version of the document in whose text the quote stands."""
    page: int | None = None
    """The page that the passage begins on, from 1, where the format has pages."""
    title: str
    source: str
    quote: str
    start: int
    """Character offset of the quote in the text of that version."""
    end: int
    method: Literal["marker", "verbatim"]
    """`marker`: the model wrote [n]. `verbatim`: the answer's words stand in the passage."""
