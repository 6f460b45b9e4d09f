"""What goes into the store and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from corpus.schema import Document
from indexer.fingerprint import Fingerprint


@dataclass(frozen=True)
class NewChunk:
    """A chunk with its vector, ready to be stored: `text == document.text[start:end]`."""

    start: int
    end: int
    tokens: int
    text: str
    text_hash: bytes
    vector: bytes
    """float32, unit length."""


@dataclass(frozen=True)
class NewVersion:
    """One state of a document with its chunks, ready to be stored."""

    document: Document
    source: str
    source_hash: str
    """SHA-256 of the bytes that the document was read from."""
    recipe: str
    """How it was parsed and cut. Another recipe makes another version of the same bytes."""
    chunks: tuple[NewChunk, ...]


@dataclass(frozen=True)
class VersionStamp:
    """What is needed to tell whether a document has changed."""

    source: str
    source_hash: str
    recipe: str


@dataclass(frozen=True)
class Collection:
    """A named set of documents with one embedding model."""

    name: str
    fingerprint: Fingerprint
    revision: int
    """Counts the transactions that changed its current chunks."""
    generation: int
    """The published vector index; 0 before the first."""
    published_revision: int
    """The revision that the published index was made from."""


@dataclass(frozen=True)
class ChunkRow:
    """A piece of the current version of a document."""

    id: int
    text: str
    start: int
    end: int
    tokens: int


@dataclass(frozen=True)
class PassageRow(ChunkRow):
    """A chunk with the document that it stands in."""

    document_id: str
    title: str
    source: str


@dataclass(frozen=True)
class DocumentRow:
    """The current version of a document, without its text."""

    id: str
    collection: str
    title: str
    source: str
    content_hash: str
    characters: int
    chunk_count: int
    effective: date | None
    authority: int
    supersedes: str | None
    metadata: dict[str, str]
    indexed: datetime


@dataclass(frozen=True)
class DocumentDetail(DocumentRow):
    """The current version of a document with its text and its chunks, in the order of the text."""

    text: str
    chunks: tuple[ChunkRow, ...]
