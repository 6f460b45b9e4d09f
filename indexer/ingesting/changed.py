"""The files that have to be read: all but those that are what their stamp says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexer.ingesting.grouping import in_groups
from indexer.ingesting.judging import Judge
from indexer.ingesting.ledger import Ledger
from indexer.ingesting.options import IngestOptions
from indexer.ingesting.outcomes import Outcome, Status
from indexer.ingesting.stamping import Stamps
from indexer.sources.sources import Sources
from indexer.sources.walking import FoundFile, SkippedFile, shown

FILES_AT_ONCE = 256
"""Files whose stamps are looked up together."""


class ChangedFiles:
    """Tells the files that have to be read from the others."""

    def __init__(self, stamps: Stamps, judge: Judge, ledger: Ledger, options: IngestOptions) -> None:
        self._stamps = stamps
        self._judge = judge
        self._ledger = ledger
        self._options = options
        self._size = 0
        self._complete = False

    def among(self, sources: Sources) -> Iterator[FoundFile]:
        """Yield the files that have to be read, and tell of the others."""
        for some in in_groups(sources, FILES_AT_ONCE):
            yield from self._changed([found for found in some if isinstance(found, FoundFile)])
            for passed in some:
                if isinstance(passed, SkippedFile):
                    status: Status = "failed" if passed.failed else "skipped"
                    self._ledger.tell_alone(Outcome(shown(passed.path), status, None, passed.reason))
        self._complete = True

    def size(self, sources: Sources) -> int:
        """Return how many bytes are to be read in all; what was not reached yet is looked at for it."""
        return self._size if self._complete else self._stamps.size_of_changed(sources.on_disk())

    def _changed(self, files: Sequence[FoundFile]) -> Iterator[FoundFile]:
        known = {} if self._options.reread else self._stamps.known(files)
        for file in files:
            stamp = known.get(file.path)
            if stamp is not None and stamp.outcome.status == "duplicate":
                original = self._judge.original_of(stamp.outcome.id, stamp.source_hash)
                stamp = stamp if original == stamp.outcome.duplicate_of else None
            if stamp is None or (self._options.strict and stamp.outcome.status == "skipped"):
                self._size += file.size
                yield file
            else:
                self._ledger.tell_alone(stamp.outcome, stamp.documents)
