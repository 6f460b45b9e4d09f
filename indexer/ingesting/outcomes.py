"""What became of every file of an ingest, of every document in it, and of all of them together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from indexer.store.records import Collection

Status = Literal["added", "updated", "unchanged", "duplicate", "skipped", "failed", "deleted"]
STATUSES: tuple[Status, ...] = ("added", "updated", "unchanged", "duplicate", "skipped", "failed", "deleted")

NO_TEXT = "no text"
KEPT = "; the index keeps what it said before"
SHOWN_PROBLEMS = 100
"""How many documents of one file that failed are listed; the others are counted."""


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
    duplicate_of: str | None = None
    """The document that was read from the same bytes."""
    near_duplicate_of: str | None = None
    """A document that says nearly the same; this one is in the index even so."""
    similarity: float | None = None
    """The share of common runs of three words with `near_duplicate_of`, 0 to 1."""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return a line for a person: `docs/a.jsonl:3: failed: …`."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.status}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True)
class FileRecord:
    """What became of one file."""

    path: str
    status: Status
    """Of a file of several documents: whether any was added or updated; `failed` only where nothing could be read."""
    id: str | None = None
    """The id of its document; None where it holds several, or none."""
    duplicate_of: str | None = None
    near_duplicate_of: str | None = None
    similarity: float | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    documents: dict[str, int] = field(default_factory=dict)
    """How many documents in it had each status."""
    problems: tuple[dict[str, Any], ...] = ()
    """The documents in it that failed, by line, where it holds several."""
    chunks: int = 0
    tokens: int = 0
    seconds: float = 0.0


class FileTally:
    """Collects what became of the documents of one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.counts: Counter[Status] = Counter()
        self.chunks = self.tokens = 0
        self.notes: dict[str, None] = {}
        self.last: Outcome | None = None
        self._problems: list[dict[str, Any]] = []

    def add(self, outcome: Outcome) -> None:
        """Count the outcome of one document."""
        self.counts[outcome.status] += 1
        self.chunks += outcome.chunks
        self.tokens += outcome.tokens
        self.notes.update(dict.fromkeys(outcome.notes))
        self.last = outcome
        if outcome.status == "failed" and len(self._problems) < SHOWN_PROBLEMS:
            self._problems.append({"line": outcome.line, "id": outcome.id, "reason": outcome.reason})

    @property
    def status(self) -> Status:
        """The status of the file as a whole."""
        counts = self.counts
        if counts["updated"] or (counts["added"] and counts["unchanged"]):
            return "updated"
        order: tuple[Status, ...] = ("added", "unchanged", "duplicate", "failed", "deleted")
        return next((status for status in order if counts[status]), "skipped")

    def record(self, seconds: float) -> FileRecord:
        """Return what became of the file."""
        record = FileRecord(
            self.path,
            self.status,
            notes=tuple(self.notes),
            documents={status: self.counts[status] for status in STATUSES if self.counts[status]},
            problems=tuple(self._problems),
            chunks=self.chunks,
            tokens=self.tokens,
            seconds=round(seconds, 3),
        )
        only = self.last if self.counts.total() == 1 else None
        if only is None:
            return record if self.counts else replace(record, reason=NO_TEXT)
        return replace(
            record,
            id=only.id,
            duplicate_of=only.duplicate_of,
            near_duplicate_of=only.near_duplicate_of,
            similarity=only.similarity,
            reason=only.reason,
            problems=record.problems if only.line else (),
        )


@dataclass(frozen=True)
class Summary:
    """All outcomes of an ingest, counted. What is not named after files counts documents."""

    collection: str
    generation: int
    """The published index. What was committed since it was published is searched beside it."""
    revision: int
    """Counts the commits of the collection: an answer from this revision or a later one knows the documents."""
    added: int
    updated: int
    unchanged: int
    duplicate: int
    skipped: int
    failed: int
    deleted: int
    incomplete: int
    """Documents with pages that hold no text."""
    chunks: int
    """Chunks of the documents that were added or updated."""
    tokens: int
    embedded: int
    """Chunks whose text was new and had to be embedded."""
    seconds: float
    skipped_because: dict[str, int]
    """How often each reason to skip a file was met, the commonest first."""
    files: dict[str, int]
    """Files by status."""
    near_duplicates: int = 0
    """Documents that say nearly the same as another one."""
    stopped: bool = False
    """Whether it ended early, after as many failures as were allowed."""
    dry_run: bool = False
    """Whether nothing was written, and the counts say what would be."""
    index: str | None = None
    """The kind of the published index, in words."""

    def with_index(self, kind: str) -> Summary:
        """Return the summary with the kind of the published index."""
        return replace(self, index=kind or None)


class Tally:
    """Counts outcomes."""

    def __init__(self) -> None:
        self._statuses: Counter[Status] = Counter()
        self._files: Counter[Status] = Counter()
        self._reasons: Counter[str] = Counter()
        self.chunks = self.tokens = self.embedded = self.incomplete = self.near_duplicates = 0

    def add(self, outcome: Outcome, times: int = 1) -> None:
        """Count one outcome, or several that are alike."""
        self._statuses[outcome.status] += times
        self.chunks += outcome.chunks
        self.tokens += outcome.tokens
        self.near_duplicates += outcome.near_duplicate_of is not None
        self.incomplete += any(NO_TEXT in note for note in outcome.notes)
        if outcome.status == "skipped":
            self._reasons[outcome.reason or ""] += times

    def add_file(self, status: Status) -> None:
        """Count one file."""
        self._files[status] += 1

    @property
    def documents(self) -> int:
        """How many documents are in the store as they are on disk."""
        return sum(self._statuses[status] for status in ("added", "updated", "unchanged"))

    @property
    def added(self) -> int:
        """How many are new."""
        return self._statuses["added"]

    @property
    def failed(self) -> int:
        """How many could not be read."""
        return self._statuses["failed"]

    def summary(
        self, collection: str, state: Collection | None, seconds: float, *, stopped: bool = False, dry_run: bool = False
    ) -> Summary:
        """Return the counts, with the collection as it is now, where there is one."""
        return Summary(
            collection=collection,
            generation=state.generation if state else 0,
            revision=state.revision if state else 0,
            **{status: self._statuses[status] for status in STATUSES},
            incomplete=self.incomplete,
            chunks=self.chunks,
            tokens=self.tokens,
            embedded=self.embedded,
            seconds=round(seconds, 3),
            skipped_because=dict(self._reasons.most_common()),
            files={status: self._files[status] for status in STATUSES if self._files[status]},
            near_duplicates=self.near_duplicates,
            stopped=stopped,
            dry_run=dry_run,
            index=None,
        )
