"""What is read of a rebuild: what was asked for, and what is still to be done."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import date

from corpus.schema import Document
from indexer.embedding.fingerprint import Fingerprint
from indexer.store.records import ChunkText, NewChunk, Rebuild, StoredVersion

OF_COLLECTION = "SELECT v.key FROM versions v JOIN documents d ON d.key = v.document WHERE d.collection = ?"
"""Every version of a collection, those of the past too: questions about a day in the past need their vectors."""


def pending_rebuild(connection: sqlite3.Connection, collection: str) -> Rebuild | None:
    """Return what a rebuild that has not been finished was asked for, or None where there is none."""
    row = connection.execute(
        "SELECT kind, fingerprint, recipe FROM rebuilds WHERE collection = ?", (collection,)
    ).fetchone()
    return Rebuild(row[0], Fingerprint.from_json(row[1]), row[2]) if row else None


def count_versions(connection: sqlite3.Connection, collection: str) -> int:
    """Return how many versions of documents a collection holds."""
    row = connection.execute(f"SELECT count(*) FROM ({OF_COLLECTION})", (collection,)).fetchone()
    return int(row[0])


def count_chunks(connection: sqlite3.Connection, collection: str) -> int:
    """Return how many chunks a collection holds, those of superseded versions included."""
    row = connection.execute(
        f"SELECT count(*) FROM chunks WHERE version IN ({OF_COLLECTION})", (collection,)
    ).fetchone()
    return int(row[0])


def count_staged(connection: sqlite3.Connection, collection: str, kind: str) -> int:
    """Return how many chunks, or versions where they are cut anew, are ready for the swap."""
    counted = (
        f"FROM staged_versions WHERE version IN ({OF_COLLECTION})"
        if kind == "cut"
        else f"FROM staged_vectors s JOIN chunks c ON c.id = s.chunk WHERE c.version IN ({OF_COLLECTION})"
    )
    row = connection.execute(f"SELECT count(*) {counted}", (collection,)).fetchone()
    return int(row[0])


def last_staged(connection: sqlite3.Connection, collection: str, kind: str) -> int:
    """Return the greatest chunk id, or version where they are cut anew, that is staged; 0 where there is none.

    They are staged in their order, and what is stored meanwhile gets greater numbers: all that is left is above.
    """
    numbers = (
        f"SELECT max(version) FROM staged_versions WHERE version IN ({OF_COLLECTION})"
        if kind == "cut"
        else f"SELECT max(s.chunk) FROM staged_vectors s JOIN chunks c ON c.id = s.chunk"
        f" WHERE c.version IN ({OF_COLLECTION})"
    )
    return int(connection.execute(numbers, (collection,)).fetchone()[0] or 0)


def chunk_texts_after(connection: sqlite3.Connection, collection: str, after: int, limit: int) -> list[ChunkText]:
    """Return up to `limit` chunks above the id `after`, live or not, in the order of ids."""
    # CROSS JOIN keeps this order, so that only chunks above the id are looked at.
    rows = connection.execute(
        "SELECT c.id, c.context, c.text FROM chunks c CROSS JOIN versions v ON v.key = c.version"
        " CROSS JOIN documents d ON d.key = v.document WHERE c.id > ? AND d.collection = ? ORDER BY c.id LIMIT ?",
        (after, collection, limit),
    )
    return [ChunkText(*row) for row in rows]


def versions_after(
    connection: sqlite3.Connection, collection: str, after: int, limit: int, characters: int
) -> list[StoredVersion]:
    """Return versions above the key `after`, in their order: up to `limit`, and up to `characters` but for one."""
    rows = connection.execute(
        "SELECT v.key, d.id, v.text, v.title, v.effective, v.authority, v.supersedes, v.metadata, v.source,"
        " v.source_hash, v.layout FROM versions v CROSS JOIN documents d ON d.key = v.document"
        " WHERE v.key > ? AND d.collection = ? ORDER BY v.key LIMIT ?",
        (after, collection, limit),
    )
    found: list[StoredVersion] = []
    for key, id_, text, title, effective, authority, supersedes, metadata, *rest in rows:
        characters -= len(text)
        if found and characters < 0:
            break
        document = Document(
            id=id_,
            text=text,
            title=title,
            effective=date.fromisoformat(effective) if effective else None,
            authority=authority,
            supersedes=supersedes,
            metadata=json.loads(metadata),
        )
        found.append(StoredVersion(key, document, *rest))
    return found


def staged_chunks(connection: sqlite3.Connection, collection: str) -> Iterator[tuple[int, str, NewChunk]]:
    """Yield (version, title of the document, chunk) of everything that was cut anew, in the order of versions."""
    rows: Iterator[Sequence[object]] = connection.execute(
        'SELECT s.version, v.title, s.start, s."end", s.tokens, s.text, s.text_hash, s.vector, s.context,'
        " s.heading_path, s.page FROM staged_chunks s JOIN versions v ON v.key = s.version"
        f" WHERE s.version IN ({OF_COLLECTION}) ORDER BY s.version, s.key",
        (collection,),
    )
    for version, title, *fields, heading_path, page in rows:
        yield version, title, NewChunk(*fields, tuple(json.loads(heading_path)), page)  # type: ignore[call-arg, arg-type, misc]
