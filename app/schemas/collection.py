"""Collections as the API shows them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.schemas.schema import Schema

CollectionName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", examples=["default"], description="A named set of documents."),
]


class CollectionView(Schema):
    """A named set of documents with one embedding model."""

    name: str
    embedder: str
    """The embedding model: a packaged name, a folder or a Hugging Face id."""
    dimension: int
    """Numbers in a vector."""
    documents: int
    chunks: int
    """Of the current versions."""
    revision: int
    """Counts the commits."""
    generation: int
    """The published index; 0 before the first."""
    index: str | None
    """The kind of the published index in words; None where none can be read."""
    min_score: float | None
    """The calibrated threshold of similarity; None where it was never calibrated."""


class CollectionList(Schema):
    """`GET /v1/collections`: those that the caller may use, in the order of names."""

    collections: tuple[CollectionView, ...]


class CollectionDeletion(Schema):
    """What became of `DELETE /v1/collections/{name}`."""

    deleted: str
    revision: int
    """The number of the last commit that it had."""
