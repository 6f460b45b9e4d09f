"""What `openbook doctor` looks at: a check for each thing that must be true of a store.

To add one: a class with this protocol in a file of its noun, and a line in the table. A check changes nothing; a
finding that concerns something derived brings the repair along.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from indexer.doctor.chunks import ChunksAgreeWithTexts, EmbeddingsAreDirections, EveryDocumentHasChunks
from indexer.doctor.database import DatabaseIsWhole, RowsBelongTogether, TextsAreUnchanged
from indexer.doctor.findings import Finding, Patient
from indexer.doctor.lexical import WordsAgreeWithChunks
from indexer.doctor.models import ModelsAreThere
from indexer.doctor.publishing import FoldersAreNeeded, NothingWaits, PublishedIsSound
from indexer.doctor.similar import DocumentsDiffer


class Check(Protocol):
    """Something that must be true of a store."""

    name: str

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Yield what is wrong, or nothing."""


CHECKS: tuple[Check, ...] = (
    DatabaseIsWhole(),
    RowsBelongTogether(),
    TextsAreUnchanged(),
    ChunksAgreeWithTexts(),
    EveryDocumentHasChunks(),
    EmbeddingsAreDirections(),
    ModelsAreThere(),
    WordsAgreeWithChunks(),
    PublishedIsSound(),
    NothingWaits(),
    FoldersAreNeeded(),
    DocumentsDiffer(),
)
