"""Documents as the API shows them."""

from __future__ import annotations

from datetime import date, datetime

from app.schemas.schema import Schema


class ChunkView(Schema):
    """A chunk as `GET /v1/documents/{id}` shows it."""

    id: int
    text: str
    start: int
    end: int
    tokens: int
    context: str = ""
    """What stands above it in its document and is read with it, such as the header of its table."""
    heading_path: tuple[str, ...] = ()
    """The headings that it stands under, the outermost first."""
    page: int | None = None
    """The page that it begins on, from 1, where the format has pages."""


class DocumentView(Schema):
    """A document in the index."""

    id: str
    collection: str
    title: str
    source: str
    content_hash: str
    characters: int
    chunk_count: int
    effective: date | None
    authority: int
    indexed: datetime


class DocumentDetail(DocumentView):
    """A document with its text and its chunks."""

    text: str
    chunks: tuple[ChunkView, ...]


class DocumentPage(Schema):
    """`GET /v1/documents`: one page, in the order of ids."""

    documents: tuple[DocumentView, ...]
    total: int
    next_cursor: str | None
