"""What is read of documents: their current versions, and what tells whether they have changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

from indexer.store.queries.binding import batches, marks
from indexer.store.queries.of_chunks import chunks_of_version
from indexer.store.records import DocumentDetail, DocumentRow, VersionStamp

DOCUMENT_COLUMNS = """
    d.id, d.collection, v.title, v.source, v.content_hash, length(v.text),
    (SELECT count(*) FROM chunks c WHERE c.version = v.key),
    v.effective, v.authority, v.supersedes, v.metadata, v.indexed, v.key
"""


def version_stamp(connection: sqlite3.Connection, collection: str, document_id: str) -> VersionStamp | None:
    """Return what tells whether a document has changed, or None where it is new."""
    return version_stamps(connection, collection, [document_id]).get(document_id)


def version_stamps(
    connection: sqlite3.Connection, collection: str, document_ids: Iterable[str]
) -> dict[str, VersionStamp]:
    """Return what tells whether these documents have changed, by id; new ones are left out."""
    found: dict[str, VersionStamp] = {}
    for some in batches(list(document_ids)):
        rows = connection.execute(
            "SELECT d.id, v.source, v.source_hash, v.recipe FROM documents d JOIN versions v ON v.key = d.version"
            f" WHERE d.collection = ? AND d.id IN ({marks(some)})",
            (collection, *some),
        )
        found.update((row[0], VersionStamp(*row[1:])) for row in rows)
    return found


def count_documents(connection: sqlite3.Connection, collection: str) -> int:
    """Return how many documents a collection holds."""
    row = connection.execute("SELECT count(*) FROM documents WHERE collection = ?", (collection,)).fetchone()
    return int(row[0])


def document_ids(connection: sqlite3.Connection, collection: str) -> tuple[str, ...]:
    """Return the ids of every document of a collection, in their order."""
    rows = connection.execute("SELECT id FROM documents WHERE collection = ? ORDER BY id", (collection,))
    return tuple(row[0] for row in rows)


def documents(
    connection: sqlite3.Connection, collection: str, after: str | None, limit: int
) -> tuple[DocumentRow, ...]:
    """Return up to `limit` documents in the order of ids, those behind the id `after`."""
    rows = connection.execute(
        f"SELECT {DOCUMENT_COLUMNS} FROM documents d JOIN versions v ON v.key = d.version"
        " WHERE d.collection = ? AND d.id > ? ORDER BY d.id LIMIT ?",
        (collection, after or "", limit),
    )
    return tuple(DocumentRow(**document_fields(row)) for row in rows)


def document(
    connection: sqlite3.Connection, collection: str, document_id: str, version: int | None = None
) -> DocumentDetail | None:
    """Return one document with its text and chunks, or None; its current version, or the one of that key."""
    row = connection.execute(
        f"SELECT {DOCUMENT_COLUMNS}, v.text FROM documents d JOIN versions v ON v.document = d.key"
        " WHERE d.collection = ? AND d.id = ? AND v.key = coalesce(?, d.version)",
        (collection, document_id, version),
    ).fetchone()
    if row is None:
        return None
    fields = document_fields(row[:-1])
    return DocumentDetail(**fields, text=row[-1], chunks=chunks_of_version(connection, fields["version"]))


def documents_of_source_hashes(
    connection: sqlite3.Connection, collection: str, source_hashes: Iterable[str]
) -> dict[str, list[tuple[str, str]]]:
    """Return the documents whose current version was read from these bytes: hash to [(document id, source)]."""
    found: dict[str, list[tuple[str, str]]] = {}
    for some in batches(list(source_hashes)):
        # CROSS JOIN begins with these hashes, not with every document.
        rows = connection.execute(
            "SELECT v.source_hash, d.id, v.source FROM versions v CROSS JOIN documents d ON d.version = v.key"
            f" WHERE d.collection = ? AND v.source_hash IN ({marks(some)}) ORDER BY d.key",
            (collection, *some),
        )
        for source_hash, id_, source in rows:
            found.setdefault(source_hash, []).append((id_, source))
    return found


def document_fields(row: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of a `DocumentRow` from `DOCUMENT_COLUMNS`."""
    names = [
        "id", "collection", "title", "source", "content_hash", "characters", "chunk_count",
        "effective", "authority", "supersedes", "metadata", "indexed", "version",
    ]  # fmt: skip
    fields = dict(zip(names, row, strict=True))
    effective = fields["effective"]
    return fields | {
        "effective": date.fromisoformat(str(effective)) if effective else None,
        "metadata": json.loads(str(fields["metadata"])),
        "indexed": datetime.fromisoformat(str(fields["indexed"])),
    }


def document_sources(connection: sqlite3.Connection, collection: str) -> Iterator[tuple[str, str]]:
    """Yield (document id, source) of every document of a collection, in the order of sources."""
    yield from connection.execute(
        "SELECT d.id, v.source FROM documents d JOIN versions v ON v.key = d.version WHERE d.collection = ?"
        " ORDER BY v.source, d.id",
        (collection,),
    )
