"""What is read of versions: the states that a document has had, and the one that held on a day."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import date, datetime

from indexer.store.queries.binding import batches, marks
from indexer.store.queries.of_chunks import DATE_OF_VERSION
from indexer.store.queries.of_documents import DOCUMENT_COLUMNS, document_fields
from indexer.store.records import VersionRow


def versions(connection: sqlite3.Connection, collection: str, document_id: str) -> tuple[VersionRow, ...]:
    """Return every version of a document, the newest first; none where there is no such document."""
    rows = connection.execute(
        f"SELECT {DOCUMENT_COLUMNS}, v.ended, v.key = d.version FROM documents d"
        " JOIN versions v ON v.document = d.key WHERE d.collection = ? AND d.id = ? ORDER BY v.key DESC",
        (collection, document_id),
    )
    return tuple(
        VersionRow(
            **document_fields(row[:-2]),
            ended=datetime.fromisoformat(row[-2]) if row[-2] else None,
            current=bool(row[-1]),
        )
        for row in rows
    )


def texts_of(
    connection: sqlite3.Connection, keys: Iterable[int], collections: Iterable[str] | None = None
) -> dict[int, str]:
    """Return the texts of versions by key, those of some collections or of any; what is not there is left out."""
    allowed = None if collections is None else set(collections)
    found: dict[int, str] = {}
    for some in batches(list(keys)):
        rows = connection.execute(
            "SELECT v.key, d.collection, v.text FROM versions v JOIN documents d ON d.key = v.document"
            f" WHERE v.key IN ({marks(some)})",
            some,
        )
        found.update({key: text for key, collection, text in rows if allowed is None or collection in allowed})
    return found


def version_as_of(connection: sqlite3.Connection, collection: str, document_id: str, day: date) -> int | None:
    """Return the key of the version that held on a day (see `indexer.search.scope`), or None where none did yet."""
    row = connection.execute(
        "SELECT v.key FROM documents d JOIN versions v ON v.document = d.key"
        f" WHERE d.collection = ? AND d.id = ? AND {DATE_OF_VERSION} <= ? ORDER BY {DATE_OF_VERSION} DESC, v.key DESC",
        (collection, document_id, day.isoformat()),
    ).fetchone()
    return int(row[0]) if row else None


def signatures(connection: sqlite3.Connection, collection: str) -> Iterator[tuple[str, bytes]]:
    """Yield (document id, MinHash signature) of the current versions that have one, in the order of ids."""
    yield from connection.execute(
        "SELECT d.id, v.signature FROM documents d JOIN versions v ON v.key = d.version"
        " WHERE d.collection = ? AND v.signature IS NOT NULL ORDER BY d.id",
        (collection,),
    )


def signatures_after(
    connection: sqlite3.Connection, collection: str, after: int, limit: int
) -> list[tuple[int, bytes]]:
    """Return (key, MinHash signature) of up to `limit` current versions behind the key `after`, by key."""
    # CROSS JOIN keeps this order, so that only versions behind the key are looked at.
    return connection.execute(
        "SELECT v.key, v.signature FROM versions v CROSS JOIN documents d ON d.version = v.key"
        " WHERE v.key > ? AND d.collection = ? AND v.signature IS NOT NULL ORDER BY v.key LIMIT ?",
        (after, collection, limit),
    ).fetchall()


def signatures_of(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, tuple[str, bytes]]:
    """Return (document id, MinHash signature) of those of the versions that are current and have one, by key."""
    found: dict[int, tuple[str, bytes]] = {}
    for some in batches(list(keys)):
        rows = connection.execute(
            "SELECT v.key, d.id, v.signature FROM versions v CROSS JOIN documents d ON d.version = v.key"
            f" WHERE v.key IN ({marks(some)}) AND v.signature IS NOT NULL",
            some,
        )
        found.update({key: (id_, signature) for key, id_, signature in rows})
    return found
