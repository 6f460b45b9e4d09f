"""Documents as the API shows them."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import Field

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
    supersedes: str | None = None
    """The id of the document that it replaces."""
    metadata: dict[str, str] = Field(default_factory=dict)
    indexed: datetime
    version: int = 0
    """The key of the version."""


class VersionView(DocumentView):
    """A version of a document, current or not."""

    current: bool
    ended: datetime | None
    """When another version took its place; None for the current one."""


class VersionList(Schema):
    """`GET /v1/documents/{id}/versions`: the newest first."""

    versions: tuple[VersionView, ...]


class DocumentDeletion(Schema):
    """What became of `DELETE /v1/documents/{id}`: no later question finds it."""

    deleted: str
    collection: str
    generation: int
    revision: int
    """The number of the commit that deleted it."""


class DocumentDetail(DocumentView):
    """A document with its text and its chunks."""

    text: str
    chunks: tuple[ChunkView, ...]


class DocumentPage(Schema):
    """`GET /v1/documents`: one page, in the order of ids."""

    documents: tuple[DocumentView, ...]
    total: int
    next_cursor: str | None
    """What gives the next page, as `cursor`; None on the last."""
