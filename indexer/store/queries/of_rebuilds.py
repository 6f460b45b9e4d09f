"""What is read of a rebuild: what was asked for, and what is still to be done."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import date

from corpus.schema import Document
from indexer.fingerprint import Fingerprint
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


def unstaged_chunks(connection: sqlite3.Connection, collection: str, limit: int) -> list[ChunkText]:
    """Return up to `limit` chunks that have no staged vector yet."""
    rows = connection.execute(
        f"SELECT id, context, text FROM chunks WHERE version IN ({OF_COLLECTION})"
        " AND id NOT IN (SELECT chunk FROM staged_vectors) ORDER BY id LIMIT ?",
        (collection, limit),
    )
    return [ChunkText(*row) for row in rows]


def unstaged_versions(
    connection: sqlite3.Connection, collection: str, limit: int, characters: int
) -> list[StoredVersion]:
    """Return versions that have not been cut anew yet: up to `limit`, and no more than `characters` but for one."""
    rows = connection.execute(
        "SELECT v.key, d.id, v.text, v.title, v.effective, v.authority, v.supersedes, v.metadata, v.source,"
        " v.source_hash, v.layout FROM versions v JOIN documents d ON d.key = v.document"
        " WHERE d.collection = ? AND v.key NOT IN (SELECT version FROM staged_versions) ORDER BY v.key LIMIT ?",
        (collection, limit),
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
