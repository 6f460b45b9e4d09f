"""What is read of files: the stamps by which one that has not changed is known without being read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from indexer.store.queries.binding import batches, marks
from indexer.store.records import FileStamp

STAMP_COLUMNS = "source, size, mtime_ns, source_hash, recipe, outcome"


def file_stamps(connection: sqlite3.Connection, collection: str) -> dict[str, FileStamp]:
    """Return the stamps of every file that was taken into a collection, by source."""
    rows = connection.execute(f"SELECT {STAMP_COLUMNS} FROM files WHERE collection = ?", (collection,))
    return {row[0]: FileStamp(*row) for row in rows}


def file_stamps_of(connection: sqlite3.Connection, collection: str, sources: Iterable[str]) -> dict[str, FileStamp]:
    """Return the stamps of some files, by source; those that were never taken in are left out."""
    found: dict[str, FileStamp] = {}
    for some in batches(list(sources)):
        rows = connection.execute(
            f"SELECT {STAMP_COLUMNS} FROM files WHERE collection = ? AND source IN ({marks(some)})",
            (collection, *some),
        )
        found.update((row[0], FileStamp(*row)) for row in rows)
    return found
