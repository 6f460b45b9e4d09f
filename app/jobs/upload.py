"""What was uploaded: files under names of our own, and what holds for their documents."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field

from corpus.durability import sync
from indexer.ingesting.options import Provenance
from indexer.sources.given import GivenFiles
from indexer.sources.walking import FoundFile

SOURCE = "upload://"
"""Before the name of a file that was uploaded, in what the index calls its source."""

LEFT_OVER_SECONDS = 3600.0
"""After so long, files that no job names are those of a request that was broken off."""


class StoredFile(BaseModel):
    """A file that waits to be taken in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    """What its sender calls it. It is shown and never opened."""
    id: str
    """The id of the document, where the file is one."""
    name: str
    """What it is called on disk, of our own making: `0.md`."""
    size: int

    @property
    def source(self) -> str:
        """What the index calls its source."""
        return f"{SOURCE}{self.label}"


class Upload(BaseModel):
    """The files of one job, and what holds for documents that do not say otherwise themselves."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: tuple[StoredFile, ...]
    effective: date | None = None
    authority: int | None = None
    supersedes: str | None = None
    metadata: Mapping[str, str] = Field(default_factory=dict)

    @property
    def provenance(self) -> Provenance:
        """Return what holds for the documents, as an ingest takes it."""
        return Provenance(self.effective, self.authority, self.supersedes, dict(self.metadata))


class Spool:
    """The folder where uploaded files wait, a folder for each job."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made with the first file."""
        self._folder = folder / "files"

    def new_id(self) -> str:
        """Return the id of a job that there is not yet."""
        return f"job-{uuid.uuid4().hex}"

    def put(self, job_id: str, number: int, suffix: str, content: BinaryIO) -> tuple[str, int]:
        """Keep the bytes of a file and return its name here and its size.

        Args:
            job_id: one of `new_id`.
            number: which file of the job it is.
            suffix: of a format that is read, such as `.md`; nothing else of a sender's name is used.
            content: read to its end.

        Raises:
            OSError: The disk does not take it.
        """
        place = self._of(job_id)
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{number}{suffix}"
        with path.open("xb") as file:
            shutil.copyfileobj(content, file, 1 << 20)
        sync(path)
        sync(place)
        return path.name, path.stat().st_size

    def files(self, job_id: str, files: Sequence[StoredFile]) -> GivenFiles:
        """Return the files of a job as an ingest reads them."""
        place = self._of(job_id)
        return GivenFiles([FoundFile(file.source, file.id, file.size, -1, place=place / file.name) for file in files])

    def drop(self, job_id: str) -> None:
        """Remove the files of a job."""
        shutil.rmtree(self._of(job_id), ignore_errors=True)

    def is_old(self, job_id: str) -> bool:
        """Say whether the files of a job have lain here for longer than it takes to send them."""
        try:
            return time.time() - self._of(job_id).stat().st_mtime > LEFT_OVER_SECONDS
        except OSError:
            return False

    def job_ids(self) -> list[str]:
        """Return the jobs that have files here."""
        return [path.name for path in self._folder.iterdir()] if self._folder.is_dir() else []

    def _of(self, job_id: str) -> Path:
        return self._folder / job_id
