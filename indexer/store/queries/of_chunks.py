"""What is read of chunks: those of the current versions, which are live, and those of the past."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from indexer.store.queries.binding import batches, marks
from indexer.store.records import ChunkRow, PassageRow

CHUNK_COLUMNS = 'id, text, start, "end", tokens, context, heading_path, page'
PASSAGE_COLUMNS = f"{CHUNK_COLUMNS}, document_id, title, source, version, authority, effective, metadata"

DATE_OF_VERSION = "coalesce(v.effective, substr(v.indexed, 1, 10))"
"""The day from which a version holds: the one it names, else the one on which it was indexed."""


def passages(
    connection: sqlite3.Connection, ids: Iterable[int], collection: str | None = None, *, live: bool = True
) -> dict[int, PassageRow]:
    """Return those of the chunks that are live, by id; of one collection, or of any.

    With `live=False` also those of versions that are no longer current, for answers from the past.
    """
    found: dict[int, PassageRow] = {}
    view = "live_chunks" if live else "stored_chunks"
    for some in batches([int(id_) for id_ in ids]):
        rows = connection.execute(f"SELECT {PASSAGE_COLUMNS}, collection FROM {view} WHERE id IN ({marks(some)})", some)
        found.update({row[0]: _passage(row[:-1]) for row in rows if collection in (None, row[-1])})
    return found


def chunk_ids_of(connection: sqlite3.Connection, collection: str, document_ids: Sequence[str]) -> list[int]:
    """Return the ids of the live chunks of the given documents; ids that are unknown add none."""
    ids: list[int] = []
    for some in batches(list(document_ids)):
        rows = connection.execute(
            "SELECT c.id FROM documents d JOIN chunks c ON c.version = d.version"
            f" WHERE d.collection = ? AND d.id IN ({marks(some)})",
            (collection, *some),
        )
        ids.extend(row[0] for row in rows)
    return sorted(ids)


def count_live_chunks(connection: sqlite3.Connection, collection: str) -> int:
    """Return how many chunks of a collection can be found."""
    row = connection.execute(
        "SELECT count(*) FROM documents d JOIN chunks c ON c.version = d.version WHERE d.collection = ?", (collection,)
    ).fetchone()
    return int(row[0])


def live_chunk_ids(connection: sqlite3.Connection, collection: str) -> list[int]:
    """Return the ids of all chunks of a collection that can be found, in any order."""
    rows = connection.execute(
        "SELECT c.id FROM documents d CROSS JOIN chunks c ON c.version = d.version WHERE d.collection = ?",
        (collection,),
    )
    return [row[0] for row in rows]


def chunks_of_version(connection: sqlite3.Connection, version: int) -> tuple[ChunkRow, ...]:
    """Return the chunks of a version in the order of the text."""
    rows = connection.execute(f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE version = ? ORDER BY start, id", (version,))
    return tuple(_chunk(row) for row in rows)


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
