"""Jobs: uploads that are taken in one after the other, and what became of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.schemas.schema import Schema

JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
DocumentStatus = Literal["added", "updated", "unchanged", "duplicate", "skipped", "failed", "deleted"]


class DocumentRecord(Schema):
    """What became of one file: a line of `openbook ingest --json`."""

    path: str
    """`upload://` and the name under which it was sent."""
    status: DocumentStatus
    """Of a file of several documents: whether any was added or updated; `failed` only where nothing could be read."""
    id: str | None
    """The id of its document; None where it holds several, or none."""
    duplicate_of: str | None
    """The document that was read from the same bytes."""
    near_duplicate_of: str | None
    """A document that says nearly the same."""
    similarity: float | None
    reason: str | None
    """Why it was skipped or failed, or what is odd about it."""
    notes: tuple[str, ...]
    documents: dict[str, int]
    """How many documents in it had each status."""
    problems: tuple[dict[str, Any], ...]
    """The documents in it that failed, by line, where it holds several."""
    chunks: int
    tokens: int
    seconds: float


class IngestSummary(Schema):
    """All outcomes of a job, counted: the last line of `openbook ingest --json`."""

    collection: str
    generation: int
    revision: int
    """An answer from this revision or a later one knows the documents."""
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
    tokens: int
    embedded: int
    seconds: float
    skipped_because: dict[str, int]
    files: dict[str, int]
    near_duplicates: int
    stopped: bool
    dry_run: bool
    index: str | None


class JobView(Schema):
    """A job, as the list shows it."""

    id: str
    collection: str
    status: JobStatus
    """`done` says that it ran to its end: some of its documents may have failed, as `records` says."""
    created: datetime
    started: datetime | None
    finished: datetime | None
    files: tuple[str, ...]
    """The names under which they were sent."""
    bytes: int
    error: str | None
    """Why it failed."""


class Job(JobView):
    """A job with what became of its files."""

    records: tuple[DocumentRecord, ...]
    """One for each file that is done with, in the order of the upload."""
    summary: IngestSummary | None
    """None before the end."""


class JobPage(Schema):
    """`GET /v1/jobs`: one page, the newest first."""

    jobs: tuple[JobView, ...]
    next_cursor: str | None


class JobQuery(Schema):
    """The query of `GET /v1/jobs`."""

    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=2048)
    """`next_cursor` of the page before."""
