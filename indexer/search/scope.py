"""Which chunks a question is asked of: those of one collection that are current, or held on a day, and pass a filter.

Every passage that a search returns is looked up here, so that none of another collection, and none that was deleted or
replaced, is ever returned, whatever found it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from indexer.search.comparing import Clause
from indexer.search.fields import FIELDS, METADATA
from indexer.search.filters import AND, NOT, OR, compile_filter
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
"""On a day a document is in the last of its versions that had begun; one that had none is not there."""


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
        return Clause(
            f"d.collection = ? AND {self._time()} AND {narrowed.sql}",
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
    keys: set[str] | None = None
    if _names_metadata(filter_) and _has_documents(connection, collection):
        keys = metadata_keys(connection, collection)
    return Scope(collection, as_of, compile_filter(filter_, keys))


def metadata_keys(connection: sqlite3.Connection, collection: str) -> set[str]:
    """Return every key in the metadata of a collection, of past versions too."""
    rows = connection.execute(
        "SELECT DISTINCT m.key FROM documents d JOIN versions v ON v.document = d.key, json_each(v.metadata) m"
        " WHERE d.collection = ? AND v.metadata != '{}'",
        (collection,),
    )
    return {row[0] for row in rows}


def _has_documents(connection: sqlite3.Connection, collection: str) -> bool:
    # In an empty collection nothing can be told to be misspelt.
    query = "SELECT 1 FROM documents WHERE collection = ? LIMIT 1"
    return connection.execute(query, (collection,)).fetchone() is not None


def _names_metadata(filter_: object) -> bool:
    if isinstance(filter_, Mapping):
        return any(
            _names_metadata(value) if name in (AND, OR, NOT) else name not in FIELDS or str(name).startswith(METADATA)
            for name, value in filter_.items()
        )
    return isinstance(filter_, list | tuple) and any(map(_names_metadata, filter_))
