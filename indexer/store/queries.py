"""Everything that is read from the store, as functions of a connection."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from indexer.fingerprint import Fingerprint, Vectors
from indexer.store.records import ChunkRow, Collection, DocumentDetail, DocumentRow, PassageRow, VersionStamp

T = TypeVar("T")

VARIABLES = 500
"""How many values one query binds; SQLite allows more, older builds 999."""

DOCUMENT_COLUMNS = """
    d.id, d.collection, v.title, v.source, v.content_hash, length(v.text),
    (SELECT count(*) FROM chunks c WHERE c.version = v.key),
    v.effective, v.authority, v.supersedes, v.metadata, v.indexed
"""

CHUNK_COLUMNS = 'id, text, start, "end", tokens, context, heading_path, page'
PASSAGE_COLUMNS = f"{CHUNK_COLUMNS}, document_id, title, source, version, authority, effective, metadata"


def collections(connection: sqlite3.Connection) -> dict[str, Collection]:
    """Return every collection by its name, in the order of names."""
    rows = connection.execute(
        "SELECT name, fingerprint, revision, generation, published_revision FROM collections ORDER BY name"
    )
    return {row[0]: Collection(row[0], Fingerprint.from_json(row[1]), *row[2:]) for row in rows}


def collection(connection: sqlite3.Connection, name: str) -> Collection | None:
    """Return one collection, or None where there is none of that name."""
    row = connection.execute(
        "SELECT name, fingerprint, revision, generation, published_revision FROM collections WHERE name = ?", (name,)
    ).fetchone()
    return Collection(row[0], Fingerprint.from_json(row[1]), *row[2:]) if row else None


def version_stamp(connection: sqlite3.Connection, collection: str, document_id: str) -> VersionStamp | None:
    """Return what tells whether a document has changed, or None where it is new."""
    row = connection.execute(
        "SELECT v.source, v.source_hash, v.recipe FROM documents d JOIN versions v ON v.key = d.version"
        " WHERE d.collection = ? AND d.id = ?",
        (collection, document_id),
    ).fetchone()
    return VersionStamp(*row) if row else None


def count_documents(connection: sqlite3.Connection, collection: str) -> int:
    """Return how many documents a collection holds."""
    row = connection.execute("SELECT count(*) FROM documents WHERE collection = ?", (collection,)).fetchone()
    return int(row[0])


def count_live_chunks(connection: sqlite3.Connection, collection: str) -> int:
    """Return how many chunks of a collection can be found."""
    row = connection.execute(
        "SELECT count(*) FROM documents d JOIN chunks c ON c.version = d.version WHERE d.collection = ?", (collection,)
    ).fetchone()
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
    return tuple(DocumentRow(**_document_fields(row)) for row in rows)


def document(connection: sqlite3.Connection, collection: str, document_id: str) -> DocumentDetail | None:
    """Return one document with its text and chunks, or None."""
    row = connection.execute(
        f"SELECT {DOCUMENT_COLUMNS}, v.text, v.key FROM documents d JOIN versions v ON v.key = d.version"
        " WHERE d.collection = ? AND d.id = ?",
        (collection, document_id),
    ).fetchone()
    if row is None:
        return None
    *fields, text, version = row
    chunks = connection.execute(f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE version = ? ORDER BY start", (version,))
    return DocumentDetail(**_document_fields(fields), text=text, chunks=tuple(_chunk(row) for row in chunks))


def passages(
    connection: sqlite3.Connection, ids: Iterable[int], collection: str | None = None
) -> dict[int, PassageRow]:
    """Return those of the chunks that are live, by id; of one collection, or of any."""
    found: dict[int, PassageRow] = {}
    for some in _batches([int(id_) for id_ in ids]):
        rows = connection.execute(
            f"SELECT {PASSAGE_COLUMNS}, collection FROM live_chunks WHERE id IN ({_marks(some)})", some
        )
        found.update({row[0]: _passage(row[:-1]) for row in rows if collection in (None, row[-1])})
    return found


def chunk_ids_of(connection: sqlite3.Connection, collection: str, document_ids: Sequence[str]) -> list[int]:
    """Return the ids of the live chunks of the given documents; ids that are unknown add none."""
    ids: list[int] = []
    for some in _batches(list(document_ids)):
        rows = connection.execute(
            "SELECT c.id FROM documents d JOIN chunks c ON c.version = d.version"
            f" WHERE d.collection = ? AND d.id IN ({_marks(some)})",
            (collection, *some),
        )
        ids.extend(row[0] for row in rows)
    return sorted(ids)


def live_vectors(
    connection: sqlite3.Connection, collection: str, dimension: int, after: int = 0
) -> tuple[npt.NDArray[np.int64], Vectors]:
    """Return ids and vectors of the live chunks above the id `after`, by id: shapes (n,) and (n, dimension)."""
    live = (
        "FROM documents d JOIN chunks c ON c.version = d.version JOIN embeddings e ON e.chunk = c.id"
        " WHERE d.collection = ? AND c.id > ?"
    )
    (count,) = connection.execute(f"SELECT count(*) {live}", (collection, after)).fetchone()
    ids = np.empty(count, dtype=np.int64)
    vectors = np.empty((count, dimension), dtype=np.float32)
    rows = connection.execute(f"SELECT c.id, e.vector {live} ORDER BY c.id", (collection, after))
    for position, (chunk_id, vector) in enumerate(rows):
        ids[position] = chunk_id
        vectors[position] = np.frombuffer(vector, dtype=np.float32)
    return ids, vectors


def known_vectors(connection: sqlite3.Connection, collection: str, text_hashes: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return the stored vectors of those texts that this collection has embedded before."""
    found: dict[bytes, bytes] = {}
    for text_hash in set(text_hashes):
        row = connection.execute(
            "SELECT e.vector FROM chunks c JOIN embeddings e ON e.chunk = c.id JOIN versions v ON v.key = c.version"
            " JOIN documents d ON d.key = v.document WHERE c.text_hash = ? AND d.collection = ? LIMIT 1",
            (text_hash, collection),
        ).fetchone()
        if row:
            found[text_hash] = row[0]
    return found


def _chunk(row: Sequence[Any]) -> ChunkRow:
    id_, text, start, end, tokens, context, heading_path, page = row
    return ChunkRow(id_, text, start, end, tokens, context, tuple(json.loads(heading_path)), page)


def _passage(row: Sequence[Any]) -> PassageRow:
    chunk = _chunk(row[:8])
    document_id, title, source, version, authority, effective, metadata = row[8:]
    return PassageRow(
        **vars(chunk),
        document_id=document_id,
        title=title,
        source=source,
        version=version,
        authority=authority,
        effective=date.fromisoformat(effective) if effective else None,
        metadata=json.loads(metadata),
    )


def _document_fields(row: Sequence[Any]) -> dict[str, Any]:
    names = [
        "id", "collection", "title", "source", "content_hash", "characters", "chunk_count",
        "effective", "authority", "supersedes", "metadata", "indexed",
    ]  # fmt: skip
    fields = dict(zip(names, row, strict=True))
    effective = fields["effective"]
    return fields | {
        "effective": date.fromisoformat(str(effective)) if effective else None,
        "metadata": json.loads(str(fields["metadata"])),
        "indexed": datetime.fromisoformat(str(fields["indexed"])),
    }


def _batches(values: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(values), VARIABLES):
        yield values[start : start + VARIABLES]


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
