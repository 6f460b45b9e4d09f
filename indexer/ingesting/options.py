"""What can be asked of an ingest, beyond where the documents are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from indexer.parsing.source import Parsed


@dataclass(frozen=True)
class Provenance:
    """What holds for documents that do not say otherwise themselves."""

    effective: date | None = None
    authority: int | None = None
    supersedes: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def given_to(self, parsed: Parsed) -> Parsed:
        """Return a document with what it does not say itself."""
        document = parsed.document
        known = {
            "effective": document.effective or self.effective,
            "authority": document.authority or self.authority or 0,
            "supersedes": document.supersedes or self.supersedes,
            "metadata": {**self.metadata, **document.metadata},
        }
        return replace(parsed, document=document.model_copy(update=known)) if self else parsed

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return self != Provenance()

    def hash(self) -> str:
        """Return a short hash of what it says, "" where that is nothing."""
        if not self:
            return ""
        said = [str(self.effective), self.authority, self.supersedes, dict(self.metadata)]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class IngestOptions:
    """How an ingest goes about it."""

    strict: bool = False
    """A file without text is a failure instead of being skipped."""
    max_errors: int | None = None
    """Stop after so many failures; what was committed before stays."""
    dry_run: bool = False
    """Say what would happen, and embed and write nothing."""
    delete_missing: bool = False
    """Delete the documents whose files lay under the paths that are named, and are gone."""
    force: bool = False
    """Delete them even where they are more than half."""
    reread: bool = False
    """Read files even where their size and time are as they were."""
    publish: bool = False
    """Publish the index at the end, even where what has changed could wait."""
    provenance: Provenance = field(default_factory=Provenance)
