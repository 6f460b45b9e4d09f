"""The SQLite file: how a connection is opened, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from corpus.errors import UsageError
from indexer.errors import StoreDamaged, StoreError, StoreUnreachable
from indexer.store.tables import TABLES

SCHEMA_VERSION = 2
DATABASE = "store.db"
VECTORS = "vectors"
BUSY_TIMEOUT_MS = 5000


def connect(folder: Path, *, read_only: bool = False, for_restore: bool = False) -> sqlite3.Connection:
    """Open the database of the store in `folder`, which is made where there is none.

    Args:
        folder: the store.
        read_only: refuse to write through it.
        for_restore: make a database even where published indexes lie in the folder without one.

    Raises:
        StoreUnreachable: the folder cannot be made or written.
        StoreDamaged: the file is no database, or was made by another version of Openbook.
    """
    _make_folder(folder)
    path = folder / DATABASE
    try:
        address = _address(path, read_only)
        connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    except sqlite3.OperationalError as error:
        raise StoreUnreachable(f"The store {folder} cannot be opened: {error}.") from error
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        _ensure_schema(connection, folder, for_restore)
        connection.execute(f"PRAGMA query_only = {int(read_only)}")
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise _explained(error, folder) from error
        if isinstance(error, OSError):
            raise StoreUnreachable(f"The store {folder} cannot be made: {error.strerror or error}.") from error
        raise
    return connection


def require_store(folder: Path) -> None:
    """Raise `UsageError` where there is no store to look after in `folder`: none is made for that."""
    if not (folder / DATABASE).exists() and not (folder / VECTORS).exists():
        raise UsageError(f"There is no store in {folder}. Name its folder with --store.")


@contextmanager
def explained_errors(folder: Path) -> Iterator[None]:
    """Give SQLite's errors within the block a meaning.

    Raises:
        StoreDamaged, StoreUnreachable, StoreError: the store cannot be used.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _explained(error, folder) from error


@contextmanager
def transaction(connection: sqlite3.Connection, folder: Path) -> Iterator[None]:
    """Run the block as one write transaction: all of it is kept, or nothing."""
    with explained_errors(folder):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


class Connections:
    """One read-only connection for each thread that asks."""

    def __init__(self, folder: Path) -> None:
        """Open the first connection, so that a store that cannot be opened is found out at once."""
        self.folder = folder
        self._local = threading.local()
        self._lock = threading.Lock()
        self._opened: list[sqlite3.Connection] = []
        self._closed = False
        self._get()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the block the connection of its thread, and its errors a meaning.

        Raises:
            StoreDamaged, StoreUnreachable, StoreError: the store cannot be read.
        """
        with explained_errors(self.folder):
            yield self._get()

    def _get(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self.folder, read_only=True)
            with self._lock:
                if self._closed:
                    connection.close()
                    raise StoreError(f"The store {self.folder} was closed.")
                self._opened.append(connection)
            self._local.connection = connection
        return connection

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            self._closed = True
            while self._opened:
                self._opened.pop().close()


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Let every query of the block see one and the same state of the store."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _address(path: Path, read_only: bool) -> str:
    """Return the URI of the database. In a folder that takes no files, SQLite is told not to make any."""
    address = path.absolute().as_uri()
    if not read_only or not path.exists() or os.access(path.parent, os.W_OK):
        return address
    log = path.with_name(f"{path.name}-wal")
    # Without a log there is nothing that could change; with one, it is read by way of the index beside it.
    return f"{address}?mode=ro" + ("" if log.exists() and log.stat().st_size else "&immutable=1")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnreachable(f"The folder {folder} of the store cannot be made: {error.strerror}.") from error


def _ensure_schema(connection: sqlite3.Connection, folder: Path, for_restore: bool) -> None:
    if _schema_version(connection) == 0:
        # Two processes may make the store at once, and a change of journal mode does not wait for the other.
        with FileLock(folder / "create.lock", timeout=BUSY_TIMEOUT_MS / 1000):
            if _schema_version(connection) == 0:
                _create(connection, folder, for_restore)
    version = _schema_version(connection)
    if version != SCHEMA_VERSION:
        raise StoreDamaged(
            f"The store {folder} has format {version}; this Openbook reads format {SCHEMA_VERSION}. "
            "Use the Openbook that made it, or choose another folder with --store."
        )


def _schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _create(connection: sqlite3.Connection, folder: Path, for_restore: bool) -> None:
    if not for_restore and any((folder / VECTORS).glob("*/gen-*")):
        raise StoreDamaged(
            f"The database {folder / DATABASE} is empty or gone, but published indexes lie beside it. "
            "Restore it with `openbook restore BACKUP`, or choose another folder with --store and ingest again."
        )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")


def _explained(error: sqlite3.Error, folder: Path) -> StoreError:
    code = error.sqlite_errorcode & 0xFF if hasattr(error, "sqlite_errorcode") else None
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamaged(
            f"The database {folder / DATABASE} is damaged ({error}). "
            "Restore it with `openbook restore BACKUP`, or choose another folder with --store and ingest again."
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreUnreachable(f"The store {folder} cannot be opened for writing ({error}).")
    if code == sqlite3.SQLITE_FULL:
        return StoreError(f"The disk of the store {folder} is full. What was committed before is kept.")
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(
            f"The disk of the store {folder} does not take or give what is asked of it ({error}): it may be full. "
            "What was committed before is kept; make room and run the command again."
        )
    return StoreError(f"The store {folder} cannot be used: {error}.")
