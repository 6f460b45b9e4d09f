"""What is to be done with a document that was read: add it, bring it up to date, or leave it.

The bytes decide. A document of known bytes is unchanged; bytes that another document was read from make a duplicate,
unless that one's file is gone, which makes a move. The same *text* proves nothing: scanned pages all hold none.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath

from corpus.digests import file_sha256
from indexer.ingesting.outcomes import KEPT, NO_TEXT, Outcome, Status
from indexer.ingesting.preparing import Pending
from indexer.parsing.source import Parsed
from indexer.sources.sources import Sources
from indexer.store import queries
from indexer.store.records import VersionStamp

OF_SEVERAL = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv"})
"""Formats whose documents are not hashed with their whole file."""


@dataclass(frozen=True)
class Change(Pending):
    """A document that is new or has changed."""

    status: Status
    reason: str | None = None
    replaced_source: str | None = None
    """The file that the document was read from before, where it is another one."""
    removes: tuple[str, ...] = ()
    """Documents that this one takes the place of."""

    @property
    def size(self) -> int:
        """How many bytes it was read from."""
        return self.parsed.size

    def expected(self) -> Outcome:
        """Return what will become of it, where all goes well."""
        return Outcome(self.source, self.status, self.parsed.document.id, self.reason, notes=self.parsed.notes)


@dataclass(frozen=True)
class Removal:
    """A document whose new bytes are those of another one: what it said before must go."""

    outcome: Outcome
    size: int

    def expected(self) -> Outcome:
        """Return what will become of it."""
        return self.outcome


Judged = Outcome | Change | Removal


class Judge:
    """Judges documents against the store and against those that wait to be committed."""

    def __init__(
        self,
        connection: sqlite3.Connection | None,
        collection: str,
        recipe: str,
        sources: Sources,
        *,
        strict: bool = False,
    ) -> None:
        """Compare with a collection; no connection stands for an empty one."""
        self._connection = connection
        self._collection = collection
        self._recipe = recipe
        self._sources = sources
        self._strict = strict
        self._waiting: dict[str, tuple[str, str]] = {}
        """Id to (path, hash of the bytes)."""
        self._waiting_hashes: dict[str, str] = {}

    def judge(self, read: Sequence[tuple[str, Parsed]]) -> list[Judged]:
        """Return what is to be done with each of some documents, given with the path of its file."""
        ids = [parsed.document.id for _, parsed in read]
        hashes = [parsed.source_hash for _, parsed in read]
        stamps = queries.version_stamps(self._connection, self._collection, ids) if self._connection else {}
        originals = self._originals(hashes)
        judged: list[Judged] = []
        for path, parsed in read:
            id_ = parsed.document.id
            one = self._judged(path, parsed, stamps.get(id_), originals.get(parsed.source_hash, []))
            if isinstance(one, Change):
                self._waiting[id_] = (path, parsed.source_hash)
                self._waiting_hashes.setdefault(parsed.source_hash, id_)
            judged.append(one)
        return judged

    def committed(self) -> None:
        """Forget what waited: the store knows it now."""
        self._waiting.clear()
        self._waiting_hashes.clear()

    def original_of(self, id_: str | None, source_hash: str) -> str | None:
        """Return another document that was read from these bytes and whose file still holds them."""
        found = self._originals([source_hash]).get(source_hash, [])
        return next((other for other, source in found if other != id_ and _holds(source, source_hash)), None)

    def _originals(self, hashes: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        if self._connection is None:
            return {}
        return queries.documents_of_source_hashes(self._connection, self._collection, hashes)

    def _judged(
        self, path: str, parsed: Parsed, stamp: VersionStamp | None, originals: Sequence[tuple[str, str]]
    ) -> Judged:
        id_, hash_ = parsed.document.id, parsed.source_hash
        if not parsed.document.text.strip():
            reason = NO_TEXT + (KEPT if stamp else "")
            return Outcome(path, "failed" if self._strict else "skipped", id_, reason, notes=parsed.notes)
        if id_ in self._waiting:
            return self._taken(path, id_, *self._waiting[id_], hash_)
        same = stamp is not None and (stamp.source_hash, stamp.recipe) == (hash_, self._recipe)
        if stamp is not None and stamp.source != path:
            return self._from_elsewhere(path, parsed, stamp, same=same)
        if same:
            return Outcome(path, "unchanged", id_, notes=parsed.notes)
        return self._new_bytes(path, parsed, originals, known=stamp is not None)

    def _from_elsewhere(self, path: str, parsed: Parsed, stamp: VersionStamp, *, same: bool) -> Judged:
        """Judge a document whose id is known from another file."""
        id_ = parsed.document.id
        if _exists(stamp.source) and self._sources.holds(stamp.source):
            return self._taken(path, id_, stamp.source, stamp.source_hash, parsed.source_hash)
        if same and not is_gone(stamp.source):
            return Outcome(path, "unchanged", id_, notes=parsed.notes)
        reason = f"{'moved' if same else 'replaces the document'} from {stamp.source}"
        return Change(parsed, path, "updated", reason, replaced_source=stamp.source)

    def _new_bytes(self, path: str, parsed: Parsed, originals: Sequence[tuple[str, str]], *, known: bool) -> Judged:
        """Judge bytes that are new for their document, though perhaps not for the index."""
        id_, hash_ = parsed.document.id, parsed.source_hash
        others = [(other, source) for other, source in originals if other != id_]
        original = next((other for other, source in others if _holds(source, hash_)), self._waiting_hashes.get(hash_))
        if original is not None:
            outcome = Outcome(path, "duplicate", id_, duplicate_of=original)
            return Removal(outcome, parsed.size) if known else outcome
        gone = [(other, source) for other, source in others if is_gone(source)]
        if gone:
            other, source = gone[0]
            return Change(parsed, path, "updated", f"moved from {source}", replaced_source=source, removes=(other,))
        return Change(parsed, path, "updated" if known else "added")

    def _taken(self, path: str, id_: str, other: str, other_hash: str, hash_: str) -> Outcome:
        if hash_ == other_hash:
            return Outcome(path, "duplicate", id_, f"the same document is in {other}", duplicate_of=id_)
        return Outcome(path, "failed", id_, f"the id {id_!r} is taken by {other}")


def is_gone(source: str) -> bool:
    """Return whether a source was a file that is no longer there. What cannot be looked at is not gone."""
    if "://" in source or source.startswith("stdin:"):
        return False
    try:
        os.lstat(source)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _exists(source: str) -> bool:
    return os.path.lexists(source)


def _holds(source: str, source_hash: str) -> bool:
    """Return whether a source still holds the bytes that a document was read from, as far as can be told."""
    try:
        status = os.stat(source)
    except (OSError, ValueError):
        return not is_gone(source)
    if PurePath(source).suffix.lower() in OF_SEVERAL:
        return True
    if not stat.S_ISREG(status.st_mode):
        # A pipe in the place of a file would be waited for without end.
        return False
    try:
        return _hash(source, status.st_size, status.st_mtime_ns) == source_hash
    except OSError:
        return True


@lru_cache(maxsize=64)
def _hash(source: str, _size: int, _mtime_ns: int) -> str:
    return file_sha256(Path(source))
