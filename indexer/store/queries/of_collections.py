"""What is read of collections: their embedder, their revision and what is published of them."""

from __future__ import annotations

import sqlite3

from indexer.embedding.fingerprint import Fingerprint
from indexer.store.records import Collection

COLUMNS = "name, fingerprint, revision, generation, published_revision, published_count, published_last, min_score"


def collections(connection: sqlite3.Connection) -> dict[str, Collection]:
    """Return every collection by its name, in the order of names."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM collections ORDER BY name")
    return {row[0]: Collection(row[0], Fingerprint.from_json(row[1]), *row[2:]) for row in rows}


def collection(connection: sqlite3.Connection, name: str) -> Collection | None:
    """Return one collection, or None where there is none of that name."""
    row = connection.execute(f"SELECT {COLUMNS} FROM collections WHERE name = ?", (name,)).fetchone()
    return Collection(row[0], Fingerprint.from_json(row[1]), *row[2:]) if row else None
