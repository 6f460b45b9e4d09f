"""`jobs/jobs.db` beside the store: the queue of uploads, and the responses that may be asked for again.

A file of its own, so that queueing waits for no writer of the store. It is made with the first thing that is kept.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.errors import QueueUnusable

FOLDER = "jobs"
BUSY_TIMEOUT_MS = 5000
TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    collection TEXT NOT NULL,
    status TEXT NOT NULL,
    created TEXT NOT NULL,
    started TEXT,
    finished TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    upload TEXT NOT NULL,
    summary TEXT,
    error TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS jobs_status ON jobs (status, number);
CREATE TABLE IF NOT EXISTS records (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    path TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (job, path)
) STRICT;
CREATE TABLE IF NOT EXISTS responses (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    begun REAL NOT NULL,
    body TEXT,
    status INTEGER,
    headers TEXT,
    content BLOB,
    PRIMARY KEY (caller, key)
) STRICT;
"""


class Database:
    """One connection that the threads of a process take in turn. Transactions are short."""

    def __init__(self, store: Path) -> None:
        """Name the store; nothing is made yet."""
        self.folder = store / FOLDER
        self._file = self.folder / "jobs.db"
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for changes that are kept all together, or not at all.

        Raises:
            QueueUnusable: The file cannot be made, read or written.
        """
        with self._lock, self._explained():
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return what a query finds; nothing where nothing was ever kept.

        Raises:
            QueueUnusable: The file cannot be read.
        """
        with self._lock, self._explained():
            if self._connection is None and not self._file.exists():
                return []
            return self._opened().execute(sql, values).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            connection.executescript(TABLES)
            self._connection = connection
        return self._connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise QueueUnusable(
                f"The queue of uploads, {self._file}, cannot be used: {error}. Documents can still be read and asked "
                "about; make room or mend the folder, or move the file away if it is damaged."
            ) from error
