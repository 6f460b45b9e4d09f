"""What is remembered of a collection that is gone: the last numbers that were given in it.

One of the same name goes on from there, so that no reader takes what it has loaded of the old one for the new one.
"""

from __future__ import annotations

from sqlite3 import Connection

from indexer.store.tables import DELETED_TABLE


def remember(connection: Connection, name: str, revision: int, generation: int) -> None:
    """Remember the numbers of a collection that goes, or the greater ones that are known already."""
    connection.execute(DELETED_TABLE)
    connection.execute(
        "INSERT INTO deleted_collections (name, revision, generation) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
        " SET revision = max(revision, excluded.revision), generation = max(generation, excluded.generation)",
        (name, revision, generation),
    )


def remembered(connection: Connection) -> dict[str, tuple[int, int]]:
    """Return the last revision and generation of each name that was a collection's once."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'deleted_collections'").fetchone():
        return {}
    rows = connection.execute("SELECT name, revision, generation FROM deleted_collections")
    return {name: (revision, generation) for name, revision, generation in rows}


def last_numbers(connection: Connection, name: str) -> tuple[int, int]:
    """Return the last revision and generation of the collection that had a name before; 0 where none had."""
    return remembered(connection).get(name, (0, 0))
