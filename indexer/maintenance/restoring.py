"""A backup put in the place of a store, while it is served.

What is there is set aside first. The backup is prepared beside the store and replaces it in one transaction, so that
every reader sees the one or the other. Numbers that were given since the backup (ids, revisions, generations) are not
given again, not even to a collection that the backup does not have and that is made again later: a reader that
remembers one would take it for something else.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from corpus.errors import UsageError
from indexer.errors import StoreDamaged, StoreError
from indexer.failpoints import failpoint
from indexer.maintenance.backup import backup, opened_backup
from indexer.maintenance.vacuum import unneeded_folders
from indexer.publishing import write_and_point
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.database import DATABASE, connect, explained_errors, transaction
from indexer.store.deleted import remember, remembered
from indexer.store.lock import writer_lock
from indexer.store.writer import StoreWriter

SEQUENCES = ("documents", "versions", "chunks")


@dataclass(frozen=True)
class Restored:
    """What a restore has done."""

    created: str
    """When the backup was made."""
    collections: dict[str, int]
    """Name to how many documents it holds."""
    safety_copy: str | None
    """Where the store that was there lies now; None where there was none."""
    was_damaged: bool
    """Whether it could not be opened, and was moved away as it was."""


@dataclass(frozen=True)
class _Numbers:
    """The greatest numbers that a store has given."""

    sequences: dict[str, int]
    revision: int
    generation: int
    names: frozenset[str]
    """Every name that is a collection's, or was one's."""


def restore(folder: Path, source: Path, settings: IndexerSettings | None = None) -> Restored:
    """Put the backup `source` in the place of the store in `folder`.

    Raises:
        UsageError: there is no such backup, or what is there cannot be set aside.
        BackupDamaged: it is not what its description says.
        StoreLocked: another process writes to the store.
    """
    settings = settings or IndexerSettings()
    if not source.exists():
        raise UsageError(f"There is no backup {source}.")
    with (
        writer_lock(folder, settings.lock_wait_seconds),
        opened_backup(source, unpacked_in(folder)) as (database, description),
    ):
        failpoint("restore.checked")
        copy, numbers, damaged = _set_aside(folder)
        failpoint("restore.safety_copy_made")
        # The lock lies in the folder, which was moved away where it was damaged: the new one has its own.
        with writer_lock(folder, settings.lock_wait_seconds) if damaged else contextlib.nullcontext():
            _put_back(folder, database, numbers)
    return Restored(description.created, description.collections, str(copy) if copy else None, damaged)


def unpacked_in(folder: Path) -> Path:
    """Return where the backups of a store are unpacked, on its own disk; whoever holds the lock may clear it."""
    return folder.with_name(f".{folder.name}.restore")


def _put_back(folder: Path, database: Path, numbers: _Numbers) -> None:
    _prepare(folder, database, numbers)
    failpoint("restore.before_swap")
    _replace(folder, database)
    failpoint("restore.swapped")
    _drop_unneeded(folder)


def _set_aside(folder: Path) -> tuple[Path | None, _Numbers, bool]:
    """Copy the present store aside, or move it where it cannot be read; return where to, its numbers, if damaged."""
    nothing = _Numbers({}, 0, 0, frozenset())
    if not (folder / DATABASE).exists():
        return None, nothing, False
    copy = _free_name(folder)
    try:
        with closing(connect(folder, read_only=True)) as connection, explained_errors(folder):
            numbers = _numbers(connection)
        backup(folder, copy)
        return copy, numbers, False
    except StoreDamaged:
        shutil.rmtree(copy, ignore_errors=True)
    try:
        os.rename(folder, copy)
    except OSError as error:
        raise UsageError(
            f"The damaged store {folder} cannot be moved to {copy}: {error.strerror}. Move it away, and restore again."
        ) from error
    failpoint("restore.half_moved")
    return copy, nothing, True


def _free_name(folder: Path) -> Path:
    """Return a name for the safety copy that nothing has: two restores may happen in one second."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    names = (f"{folder.name}.before-restore-{stamp}{extra}" for extra in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(folder.with_name(name) for name in names if not os.path.lexists(folder.with_name(name)))


def _numbers(connection: sqlite3.Connection) -> _Numbers:
    sequences = dict(connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    given = {name: (state.revision, state.generation) for name, state in queries.collections(connection).items()}
    given = remembered(connection) | given
    return _Numbers(
        sequences,
        max((revision for revision, _ in given.values()), default=0),
        max((generation for _, generation in given.values()), default=0),
        frozenset(given),
    )


def _prepare(folder: Path, database: Path, numbers: _Numbers) -> None:
    """Raise the numbers of the backup, and publish its collections into the folder of the store."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        with transaction(connection, folder):
            for name in SEQUENCES:
                given = numbers.sequences.get(name, 0)
                if not connection.execute("SELECT 1 FROM sqlite_sequence WHERE name = ?", (name,)).fetchone():
                    connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, 0)", (name,))
                connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (given, name))
            connection.execute(
                "UPDATE collections SET revision = max(revision, ?) + 1, generation = max(generation, ?)",
                (numbers.revision, numbers.generation),
            )
            for name in numbers.names - queries.collections(connection).keys():
                remember(connection, name, numbers.revision, numbers.generation)
            writer = StoreWriter(folder, connection)
            for state in queries.collections(connection).values():
                write_and_point(writer, state)
        failpoint("restore.published")


def _replace(folder: Path, database: Path) -> None:
    """Write the prepared database over the present one, in one transaction that readers see at once."""
    with closing(sqlite3.connect(database)) as prepared, closing(connect(folder, for_restore=True)) as present:
        try:
            prepared.backup(present)
        except sqlite3.Error as error:
            raise StoreError(f"The store {folder} cannot be written: {error}. It is what it was before.") from error


def _drop_unneeded(folder: Path) -> None:
    with closing(connect(folder, read_only=True)) as connection:
        states = list(queries.collections(connection).values())
    for path in unneeded_folders(folder, states, previous=True):
        shutil.rmtree(path)
