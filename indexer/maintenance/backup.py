"""Copies of a store, made and put back while it is served.

A backup is a folder, or a tar file, of `backup.json` (what must be true of it) and `store.db` (SQLite's own online copy
of one state of the database, whoever writes meanwhile). Vectors are in the database; published indexes are derived from
it, and made anew by the restore.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from corpus.digests import file_sha256
from corpus.durability import sync
from corpus.errors import UsageError
from indexer.errors import BackupDamaged
from indexer.failpoints import failpoint
from indexer.store import queries
from indexer.store.database import DATABASE, SCHEMA_VERSION, connect, explained_errors, require_store, snapshot

DESCRIPTION = "backup.json"


@dataclass(frozen=True)
class Description:
    """What must be true of a backup."""

    format: int
    created: str
    bytes: int
    sha256: str
    collections: dict[str, int]
    """Name to how many documents it holds."""


def backup(folder: Path, target: Path) -> Description:
    """Copy one state of a store to `target`: a tar file where its name ends with `.tar`, else a folder.

    Readers and the writer go on meanwhile.

    Raises:
        UsageError: there is something at `target` already, or it cannot be written.
        StoreDamaged: the store cannot be read.
    """
    if os.path.lexists(target):
        raise UsageError(f"There is something at {target} already. Choose another name for the backup, or remove it.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as unfinished:
            made = Path(unfinished) / "backup"
            made.mkdir()
            description = _copy(folder, made)
            failpoint("backup.before_rename")
            if target.suffix == ".tar":
                packed = Path(unfinished) / "backup.tar"
                with tarfile.open(packed, "w") as tar:
                    for name in (DESCRIPTION, DATABASE):
                        tar.add(made / name, arcname=name)
                made = packed
            sync(made)
            os.rename(made, target)
            sync(target.parent)
    except OSError as error:
        raise UsageError(f"The backup {target} cannot be written: {error.strerror or error}.") from error
    return description


@contextmanager
def opened_backup(source: Path, beside: Path) -> Iterator[tuple[Path, Description]]:
    """Give the block the checked database of a backup, as a file that it may change, and its description.

    Args:
        source: the backup.
        beside: the folder to unpack it in, made for that and removed again.

    Raises:
        BackupDamaged: it is not what its description says, or of another format.
    """
    shutil.rmtree(beside, ignore_errors=True)
    try:
        try:
            beside.mkdir(parents=True)
            _unpack(source, beside)
            description = Description(**json.loads((beside / DESCRIPTION).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, KeyError, tarfile.TarError) as error:
            raise BackupDamaged(f"The backup {source} cannot be read: {error}.") from error
        _check(source, beside / DATABASE, description)
        yield beside / DATABASE, description
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _copy(folder: Path, made: Path) -> Description:
    """Copy the database into the folder `made` and describe it."""
    require_store(folder)
    copy = made / DATABASE
    with (
        explained_errors(folder),
        closing(connect(folder, read_only=True)) as connection,
        closing(sqlite3.connect(copy)) as copied,
    ):
        # In one step, so that a writer never makes it begin again; none waits for it either.
        connection.backup(copied)
        # One file that needs no log beside it.
        copied.execute("PRAGMA journal_mode = DELETE")
        failpoint("backup.database_copied")
        with snapshot(copied):
            collections = {name: queries.count_documents(copied, name) for name in queries.collections(copied)}
    sync(copy)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    description = Description(SCHEMA_VERSION, created, copy.stat().st_size, file_sha256(copy), collections)
    (made / DESCRIPTION).write_text(json.dumps(asdict(description), indent=2) + "\n", encoding="utf-8")
    sync(made / DESCRIPTION)
    return description


def _unpack(source: Path, folder: Path) -> None:
    """Copy the two files of a backup, and nothing else that may lie in it."""
    if source.is_dir():
        for name in (DESCRIPTION, DATABASE):
            shutil.copyfile(source / name, folder / name)
        return
    with tarfile.open(source, "r:") as tar:
        for name in (DESCRIPTION, DATABASE):
            member = tar.extractfile(name)
            if member is None:
                raise ValueError(f"its {name} is no file")
            with member, (folder / name).open("wb") as file:
                shutil.copyfileobj(member, file)


def _check(source: Path, database: Path, description: Description) -> None:
    if description.format != SCHEMA_VERSION:
        raise BackupDamaged(
            f"The backup {source} has format {description.format}; this Openbook reads format {SCHEMA_VERSION}. "
            "Restore it with the Openbook that made it."
        )
    if (database.stat().st_size, file_sha256(database)) != (description.bytes, description.sha256):
        raise BackupDamaged(f"The backup {source} is damaged: its database is not the one that was described.")
    with closing(sqlite3.connect(database)) as connection:
        problems = connection.execute("PRAGMA integrity_check(3)").fetchall()
    if problems != [("ok",)]:
        raise BackupDamaged(f"The backup {source} is damaged: {problems[0][0]}.")
