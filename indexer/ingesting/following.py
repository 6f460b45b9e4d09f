"""How an ingest is followed: who is told about it, and the files that are being taken in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from indexer.ingesting.outcomes import FileRecord, FileTally, Outcome
from indexer.parsing.source import Parsed, Unreadable
from indexer.sources.walking import FoundFile


def _ignore(_: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Watcher:
    """Who is told how an ingest goes."""

    start: Callable[[int], object] = _ignore
    """Called once with the bytes that are to be read."""
    advance: Callable[[int], object] = _ignore
    """Called with the bytes that are done since the last call."""
    report: Callable[[Outcome], object] = _ignore
    """Called with what became of every document, once it is true of the store; once for a file that was not read."""
    record: Callable[[FileRecord], object] = _ignore
    """Called with what became of every file, once it is true of the store."""

    def sharing(self, size: int) -> Callable[[float], None]:
        """Return a function that takes the share that is done of `size` bytes, and advances by what is new in it."""
        told = 0

        def advance(share: float) -> None:
            nonlocal told
            now = round(size * share)
            self.advance(now - told)
            told = now

        return advance


class OpenFile:
    """A file that is being taken in."""

    def __init__(self, found: FoundFile, *, keep_ids: bool = False) -> None:
        """Begin with a file; the ids of its documents are kept where that is wanted."""
        self.found = found
        self._keep_ids = keep_ids
        self.path = found.path
        self.tally = FileTally(found.path)
        self.ids: set[str] = set()
        self.source_hash = ""
        """That of its last document: of the file, where it holds one."""
        self.pending = 0
        """Documents that were read and not committed yet."""
        self.bytes_read = 0
        self.seconds = 0.0
        self.finished = self.closed = False

    @property
    def is_several(self) -> bool:
        """Whether it holds documents that are not it, as far as their ids were kept."""
        return self.ids != {self.found.id}

    def began(self, parsed: Parsed) -> None:
        """Take notice of a document that was read."""
        self.pending += 1
        if self._keep_ids:
            self.ids.add(parsed.document.id)
        self.source_hash = parsed.source_hash

    def timed(self, contents: Iterator[Parsed | Unreadable]) -> Iterator[Parsed | Unreadable]:
        """Yield what is in the file, and count the time that is waited for it."""
        started = time.monotonic()
        for one in contents:
            self.seconds += time.monotonic() - started
            yield one
            started = time.monotonic()
        self.seconds += time.monotonic() - started
