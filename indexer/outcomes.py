"""What became of every document of an ingest, and of all of them together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

Status = Literal["added", "updated", "unchanged", "skipped", "failed"]


@dataclass(frozen=True)
class Outcome:
    """What became of one document: a file, or a line of one."""

    path: str
    status: Status
    id: str | None = None
    """The id of the document; None where there is none."""
    reason: str | None = None
    """Why it was skipped or failed, or what is odd about it."""
    line: int | None = None
    chunks: int = 0
    tokens: int = 0

    def __str__(self) -> str:
        """Return a line for a person: `docs/a.jsonl:3: failed: …`."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.status}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True)
class Summary:
    """All outcomes of an ingest, counted."""

    collection: str
    generation: int
    """The published index. What was committed since it was published is searched beside it."""
    revision: int
    """Counts the commits of the collection: an answer from this revision or a later one knows the documents."""
    added: int
    updated: int
    unchanged: int
    skipped: int
    failed: int
    chunks: int
    """Chunks of the documents that were added or updated."""
    tokens: int
    embedded: int
    """Chunks whose text was new and had to be embedded."""
    seconds: float
    skipped_because: dict[str, int]
    """How often each reason to skip a file was met, the commonest first."""


class Tally:
    """Counts outcomes."""

    def __init__(self) -> None:
        self._statuses: Counter[Status] = Counter()
        self._reasons: Counter[str] = Counter()
        self.chunks = self.tokens = self.embedded = 0

    def add(self, outcome: Outcome) -> None:
        """Count one outcome."""
        self._statuses[outcome.status] += 1
        self.chunks += outcome.chunks
        self.tokens += outcome.tokens
        if outcome.status == "skipped":
            self._reasons[outcome.reason or ""] += 1

    @property
    def documents(self) -> int:
        """How many documents are in the store as they are on disk."""
        return sum(self._statuses[status] for status in ("added", "updated", "unchanged"))

    @property
    def failed(self) -> int:
        """How many could not be read."""
        return self._statuses["failed"]

    def summary(self, collection: str, generation: int, revision: int, seconds: float) -> Summary:
        """Return the counts."""
        return Summary(
            collection=collection,
            generation=generation,
            revision=revision,
            added=self._statuses["added"],
            updated=self._statuses["updated"],
            unchanged=self._statuses["unchanged"],
            skipped=self._statuses["skipped"],
            failed=self._statuses["failed"],
            chunks=self.chunks,
            tokens=self.tokens,
            embedded=self.embedded,
            seconds=round(seconds, 3),
            skipped_because=dict(self._reasons.most_common()),
        )
