"""What goes into the store and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from corpus.schema import Document
from indexer.embedding.fingerprint import Fingerprint


@dataclass(frozen=True)
class NewChunk:
    """A chunk with its vector, ready to be stored: `text == document.text[start:end]`."""

    start: int
    end: int
    tokens: int
    text: str
    text_hash: bytes
    """SHA-256 of what is embedded: context and text."""
    vector: bytes
    """float32, unit length."""
    context: str = ""
    """What stands above the passage in its document and is read with it, such as the header of its table."""
    heading_path: tuple[str, ...] = ()
    """The headings that it stands under, the outermost first."""
    page: int | None = None
    """The page that it begins on, from 1, where the format has pages."""


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
    signature: bytes | None = None
    """MinHash of its words, by which near-duplicate documents are found; None where it has too few."""
    layout: str = "{}"
    """Headings, tables and pages of the text (see `indexer.layout`), so that it can be cut anew without its file."""


@dataclass(frozen=True)
class VersionStamp:
    """What is needed to tell whether a document has changed."""

    source: str
    source_hash: str
    recipe: str


@dataclass(frozen=True)
class FileStamp:
    """What a file was when it was taken in, so that one that has not changed need not be read."""

    source: str
    size: int
    mtime_ns: int
    source_hash: str
    """SHA-256 of its bytes."""
    recipe: str
    outcome: str
    """What became of it, as JSON."""


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
    """The revision that the published index was made from. Chunks that were committed since are searched beside it."""
    published_count: int = 0
    """How many vectors the published index holds, those of chunks that are no longer live included."""
    published_last: int = 0
    """The greatest chunk id that it holds; what it does not know is above."""
    min_score: float | None = None
    """The calibrated threshold of similarity with a question; None where it was never calibrated."""


@dataclass(frozen=True)
class CollectionSummary:
    """A collection as its readers see it."""

    name: str
    embedder: str
    """The embedding model: a packaged name, a folder or a Hugging Face id."""
    dimension: int
    documents: int
    chunks: int
    """Of the current versions."""
    revision: int
    generation: int
    index: str | None
    """The kind of the published index in words; None where none can be read."""
    min_score: float | None
    """The calibrated threshold; None where it was never calibrated."""


@dataclass(frozen=True)
class Rebuild:
    """What a rebuild was asked for."""

    kind: str
    """`embed`: new vectors of the stored chunks; `cut`: new chunks of the stored texts."""
    fingerprint: Fingerprint
    recipe: str


@dataclass(frozen=True)
class StoredVersion:
    """A version of a document, ready to be cut anew."""

    key: int
    document: Document
    source: str
    source_hash: str
    layout: str


@dataclass(frozen=True)
class ChunkText:
    """What is embedded of a chunk."""

    id: int
    context: str
    text: str


@dataclass(frozen=True)
class ChunkRow:
    """A piece of the current version of a document."""

    id: int
    text: str
    start: int
    end: int
    tokens: int
    context: str
    heading_path: tuple[str, ...]
    page: int | None


@dataclass(frozen=True)
class PassageRow(ChunkRow):
    """A chunk with the document that it stands in."""

    document_id: str
    title: str
    source: str
    version: int
    """The key of the version that it is cut from."""
    authority: int
    effective: date | None
    metadata: dict[str, str]


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
    version: int
    """The key of the version."""


@dataclass(frozen=True)
class VersionRow(DocumentRow):
    """A version of a document, without its text."""

    ended: datetime | None
    """When another version took its place; None for the current one."""
    current: bool


@dataclass(frozen=True)
class DocumentDetail(DocumentRow):
    """The current version of a document with its text and its chunks, in the order of the text."""

    text: str
    chunks: tuple[ChunkRow, ...]
