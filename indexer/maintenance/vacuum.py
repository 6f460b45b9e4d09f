"""Deletion to the last byte: what was deleted leaves the database file, the full text index and the published vectors.

A deleted document is gone for every reader at once. On disk its text stays in free pages of the database, its words in
the full text index, and its vectors in published generations, until they are written anew: here.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from indexer.failpoints import failpoint
from indexer.publishing import publish, published_alive, vectors_home
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.database import DATABASE, VECTORS, explained_errors, require_store, transaction
from indexer.store.records import Collection
from indexer.store.writer import StoreWriter, open_writer
from indexer.vectors import generation_folder, generation_numbers


@dataclass(frozen=True)
class Vacuumed:
    """What has been cleared away."""

    versions: int
    """Superseded versions that were dropped."""
    folders: int
    """Folders of generations that were removed."""
    bytes_before: int
    bytes_after: int
    log_emptied: bool
    """False where a process that is reading kept SQLite from emptying its log; what was deleted may be in it still."""
    safety_copies: tuple[str, ...]
    """Copies that restores have left beside the store: they hold what they held."""


def vacuum(folder: Path, *, history: bool = False, settings: IndexerSettings | None = None) -> Vacuumed:
    """Clear everything that was deleted from the files of a store.

    Args:
        folder: the store.
        history: drop superseded versions too; questions about a day in the past then find current versions alone.
        settings: None reads the environment.

    Raises:
        UsageError: there is no store.
        StoreLocked: another process writes to the store.
    """
    require_store(folder)
    settings = settings or IndexerSettings()
    with open_writer(folder, settings.lock_wait_seconds) as writer:
        before = size_of(folder)
        versions = _drop_history(writer) if history else 0
        failpoint("vacuum.history_dropped")
        states = [_without_dead(writer, state) for state in queries.collections(writer.connection).values()]
        failpoint("vacuum.published")
        unneeded = list(unneeded_folders(folder, states, previous=False))
        for path in unneeded:
            shutil.rmtree(path)
        failpoint("vacuum.generations_dropped")
        emptied = _compact(writer)
        copies = tuple(str(path) for path in sorted(folder.parent.glob(f"{folder.name}.before-restore-*")))
        return Vacuumed(versions, len(unneeded), before, size_of(folder), emptied, copies)


def unneeded_folders(folder: Path, states: list[Collection], *, previous: bool) -> Iterator[Path]:
    """Yield the folders below `vectors/` that no reader needs.

    Args:
        folder: the store.
        states: its collections.
        previous: whether the generation before the published one is needed, by a reader that is about to open it.
    """
    needed: dict[Path, set[Path]] = {}
    for state in states:
        home = vectors_home(folder, state.name)
        older = [number for number in generation_numbers(home) if number < state.generation]
        kept = {state.generation, *(older[-1:] if previous else ())}
        needed[home] = {generation_folder(home, number) for number in kept}
    for home in sorted((folder / VECTORS).glob("*")):
        if home not in needed:
            yield home
        else:
            yield from sorted(path for path in home.iterdir() if path.is_dir() and path not in needed[home])


def size_of(folder: Path) -> int:
    """Return the bytes of all files of a store."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _drop_history(writer: StoreWriter) -> int:
    with transaction(writer.connection, writer.folder):
        return writer.connection.execute(
            "DELETE FROM versions WHERE key NOT IN (SELECT version FROM documents WHERE version IS NOT NULL)"
        ).rowcount


def _without_dead(writer: StoreWriter, state: Collection) -> Collection:
    """Publish a collection anew where what is published holds vectors of chunks that are no longer live."""
    if state.generation and state.published_count != published_alive(writer.connection, state):
        return publish(writer, state.name, again=True)
    return state


def _compact(writer: StoreWriter) -> bool:
    """Write the full text index and the database anew, and empty SQLite's log; say whether that could be emptied."""
    with explained_errors(writer.folder):
        # Merged into one, the full text index keeps nothing of what was deleted from it.
        writer.connection.execute("INSERT INTO lexical (lexical) VALUES ('optimize')")
        failpoint("vacuum.lexical_merged")
        writer.connection.execute("VACUUM")
        failpoint("vacuum.compacted")
        (busy, _, _) = writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    log = writer.folder / f"{DATABASE}-wal"
    return not busy and (not log.exists() or log.stat().st_size == 0)
