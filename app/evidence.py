"""The citations of an answer, compared with what is stored: none is returned whose quote does not stand there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.access.guarded_index import GuardedIndex
from app.citations import cite, count_invalid_markers
from app.schemas.passage import Citation, Passage


@dataclass(frozen=True)
class Evidence:
    """What an answer rests on."""

    citations: tuple[Citation, ...] = ()
    invalid: int = 0
    """How many markers name no passage, and how many quotes are not in the stored text."""


def find_evidence(answer: str, passages: Sequence[Passage], index: GuardedIndex) -> Evidence:
    """Return the citations of an answer (see `app.citations.cite`) whose quotes are the stored text at their spans.

    A document that is deleted while its question is answered takes its citations with it.
    """
    found = cite(answer, passages)
    stored = index.stretches([(each.version, each.start, each.end) for each in found]) if found else ()
    kept = tuple(each for each, text in zip(found, stored, strict=True) if text == each.quote)
    return Evidence(kept, count_invalid_markers(answer, passages) + len(found) - len(kept))
