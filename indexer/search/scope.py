"""Which chunks a question is asked of: those of one collection that are current, or held on a day, and pass a filter.

Every passage that a search returns is looked up here, so that none of another collection, and none that was deleted or
replaced, is ever returned, whatever found it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from indexer.search.comparing import Clause
from indexer.search.filters import compile_filter
from indexer.store import queries
from indexer.store.queries.binding import batches, marks
from indexer.store.queries.of_chunks import DATE_OF_VERSION
from indexer.store.records import PassageRow

TABLES = "chunks c JOIN versions v ON v.key = c.version JOIN documents d ON d.key = v.document"
CURRENT = "v.key = d.version"
BEGAN = DATE_OF_VERSION.replace("v.", "w.")
HELD = (
    f"v.key = (SELECT w.key FROM versions w WHERE w.document = d.key AND {BEGAN} <= ?"
    f" ORDER BY {BEGAN} DESC, w.key DESC LIMIT 1)"
)
"""On a day a document is in the last of its versions that had begun, by its effective date or else the date on which it
was indexed; one that had none is not there, nor one that has been deleted since, for it is gone."""


@dataclass(frozen=True)
class Scope:
    """The chunks that are searched, as a condition on `TABLES`."""

    collection: str
    as_of: date | None = None
    narrowed: Clause | None = None
    """The filter."""

    @property
    def is_current_whole(self) -> bool:
        """Whether every live chunk of the collection is in it."""
        return self.as_of is None and self.narrowed is None

    def condition(self) -> Clause:
        """Return the SQL condition on `TABLES`."""
        narrowed = self.narrowed or Clause("1")
        # A plus keeps SQLite from going through all documents of the collection where few have the wanted metadata.
        by_metadata = "metadata" in narrowed.sql and "d.id" not in narrowed.sql
        return Clause(
            f"{'+' if by_metadata else ''}d.collection = ? AND {self._time()} AND {narrowed.sql}",
            (self.collection, *self._day(), *narrowed.parameters),
        )

    def ids(self, connection: sqlite3.Connection) -> list[int]:
        """Return the ids of the chunks, in their order."""
        condition = self.condition()
        rows = connection.execute(f"SELECT c.id FROM {TABLES} WHERE {condition.sql}", condition.parameters)
        return sorted(row[0] for row in rows)

    def passages(self, connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, PassageRow]:
        """Return those of the chunks that belong to the collection and, unless the past is asked, are live, by id."""
        return queries.passages(connection, ids, self.collection, live=self.as_of is None)

    def superseding(self, connection: sqlite3.Connection, document_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return for each document that others of the collection supersede these others, in the order of ids.

        Looks up the given documents, those that supersede them, those that supersede these, and so on.
        """
        found: dict[str, tuple[str, ...]] = {}
        waiting = set(document_ids)
        while waiting:
            direct = self._directly_superseding(connection, sorted(waiting))
            found |= direct
            waiting = {by for each in direct.values() for by in each} - found.keys()
        return found

    def _directly_superseding(
        self, connection: sqlite3.Connection, document_ids: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for some in batches(document_ids):
            # CROSS JOIN begins with the few that supersede anything, not with every document.
            rows = connection.execute(
                "SELECT v.supersedes, d.id FROM versions v CROSS JOIN documents d ON d.key = v.document"
                f" WHERE v.supersedes IN ({marks(some)}) AND d.id != v.supersedes AND d.collection = ?"
                f" AND {self._time()} ORDER BY d.id",
                (*some, self.collection, *self._day()),
            )
            for superseded, by in rows:
                found[superseded] = (*found.get(superseded, ()), by)
        return found

    def _time(self) -> str:
        return CURRENT if self.as_of is None else HELD

    def _day(self) -> tuple[str, ...]:
        return () if self.as_of is None else (self.as_of.isoformat(),)


def open_scope(
    connection: sqlite3.Connection, collection: str, filter_: Mapping[str, Any] | None = None, as_of: date | None = None
) -> Scope:
    """Return the scope of a search.

    Raises:
        FilterRefused: the filter is malformed, or names a field that no document of the collection has.
    """
    if filter_ is None:
        return Scope(collection, as_of)
    return Scope(collection, as_of, compile_filter(filter_, MetadataKeys(connection, collection)))


class MetadataKeys(Collection[str]):
    """The keys in the metadata of a collection, of past versions too. All are read only where one is not among them."""

    def __init__(self, connection: sqlite3.Connection, collection: str) -> None:
        """Ask through a connection."""
        self._connection = connection
        self._collection = collection

    def __contains__(self, key: object) -> bool:
        """Whether a document has the key; in a collection without documents none can be told to be misspelt."""
        of_documents = "metadata m JOIN versions v ON v.key = m.version"
        return self._any(of_documents, "m.key = ?", key) or not self._any("versions v")

    def __iter__(self) -> Iterator[str]:
        """Go through the keys in their order."""
        rows = self._connection.execute(
            "SELECT DISTINCT m.key FROM documents d JOIN versions v ON v.document = d.key"
            " JOIN metadata m ON m.version = v.key WHERE d.collection = ? ORDER BY m.key",
            (self._collection,),
        )
        return (str(row[0]) for row in rows.fetchall())

    def __len__(self) -> int:
        """Count the keys."""
        return sum(1 for _ in self)

    def _any(self, tables: str, condition: str = "1", *parameters: object) -> bool:
        query = f"SELECT 1 FROM {tables} JOIN documents d ON d.key = v.document WHERE {condition} AND d.collection = ?"
        return self._connection.execute(f"{query} LIMIT 1", (*parameters, self._collection)).fetchone() is not None
