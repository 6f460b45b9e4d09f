"""Stamps: what a file was when it was taken in, so that one that has not changed need not be read.

A file is taken for unchanged where its size, its time of change and the recipe are what they were, and what the stamp
says of the index is still so. A file that was changed less than two seconds before it was looked at could be changed
again without its time telling (git calls such a file racy): its stamp is not trusted, and it is read once more.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass

from indexer.ingesting.grouping import in_groups
from indexer.ingesting.outcomes import FileTally, Outcome, Status
from indexer.sources.walking import FoundFile
from indexer.store import queries
from indexer.store.records import FileStamp

RACY_NS = 2_000_000_000
NOT_TRUSTED = -1
LOOKED_UP_AT_ONCE = 256


@dataclass(frozen=True)
class KnownFile:
    """What a stamp says became of a file."""

    outcome: Outcome
    documents: int
    source_hash: str


class Stamps:
    """The stamps of a collection."""

    def __init__(self, connection: sqlite3.Connection | None, collection: str, recipe: str) -> None:
        """Read from a connection; None where there is no store yet."""
        self._connection = connection
        self._collection = collection
        self._recipe = recipe
        self._started = time.time_ns()
        self._folder = os.getcwd()

    def known(self, files: Iterable[FoundFile]) -> dict[str, KnownFile]:
        """Return those of the files that are what they were, by path."""
        looked_at = {file.path: file for file in files if file.on_disk}
        if self._connection is None or not looked_at:
            return {}
        stamps = queries.file_stamps_of(self._connection, self._collection, looked_at)
        return {path: known for path, stamp in stamps.items() if (known := self._known(looked_at[path], stamp))}

    def has_documents(self, path: str) -> bool:
        """Return whether the index holds documents from a file, whatever has become of the file since."""
        if self._connection is None:
            return False
        stamp = queries.file_stamps_of(self._connection, self._collection, [path]).get(path)
        return stamp is not None and json.loads(stamp.outcome)["status"] in ("added", "updated", "unchanged")

    def size_of_changed(self, files: Iterable[FoundFile]) -> int:
        """Return how many bytes those of the files have that are not what they were."""
        size = 0
        for some in in_groups(files, LOOKED_UP_AT_ONCE):
            known = self.known(some)
            size += sum(file.size for file in some if file.path not in known)
        return size

    def _known(self, file: FoundFile, stamp: FileStamp) -> KnownFile | None:
        if (stamp.size, stamp.mtime_ns, stamp.recipe) != (file.size, file.mtime_ns, self._recipe):
            return None
        said = json.loads(stamp.outcome)
        if said["absolute"] != self._absolute(file.path):
            return None
        status: Status = said["status"]
        # What was added then is unchanged now.
        now: Status = "unchanged" if status in ("added", "updated") else status
        outcome = Outcome(
            file.path,
            now,
            said["id"],
            said["reason"] if now == "skipped" else None,
            duplicate_of=said["duplicate_of"],
            notes=tuple(said["notes"]),
        )
        return KnownFile(outcome, said["documents"], stamp.source_hash)

    def stamp(self, file: FoundFile, tally: FileTally, source_hash: str) -> FileStamp | None:
        """Return the stamp of a file that was taken in; None where it has to be read again the next time."""
        several = tally.counts.total() > 1
        if not file.on_disk or tally.counts["failed"] or (several and tally.counts["duplicate"]):
            return None
        last = tally.last
        only = None if several or last is None else last
        said = {
            "status": tally.status,
            "id": only and only.id,
            "duplicate_of": only and only.duplicate_of,
            "reason": only and only.reason,
            "notes": list(tally.notes),
            "documents": tally.counts.total(),
            "absolute": self._absolute(file.path),
        }
        trusted = file.mtime_ns < self._started - RACY_NS
        return FileStamp(
            file.path,
            file.size,
            file.mtime_ns if trusted else NOT_TRUSTED,
            "" if several else source_hash,
            self._recipe,
            json.dumps(said, ensure_ascii=False),
        )

    def _absolute(self, path: str) -> str:
        # What os.path.abspath does for the paths that a walk gives, five times as fast.
        return os.path.join(self._folder, path) if "/../" not in f"/{path}" else os.path.abspath(path)
