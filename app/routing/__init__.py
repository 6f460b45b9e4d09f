"""Routing policies: which checkpoint answers a question that names none.

To add one: a file here and a line in `POLICIES`; or, without touching Openbook, any class on the Python path, named as
`package.module:Class`, which takes the settings' `RoutingOptions` and has `choose`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Inquiry:
    """What a policy may look at."""

    question: str
    retriever: str
    scores: tuple[float, ...]
    """Of the passages found, best first; empty where none were searched or found."""


@dataclass(frozen=True)
class Choice:
    """The checkpoint that answers, and why, in words for the person who reads the answer."""

    checkpoint: str
    reason: str


@dataclass(frozen=True)
class RoutingOptions:
    """What `openbook serve` was told about routing."""

    checkpoint: str | None = None
    """The checkpoint for what the policy singles out; None takes the second that is served."""
    threshold: float | None = None
    """Where the policy draws its line; None takes its own."""


class Routing(Protocol):
    """A policy."""

    def choose(self, inquiry: Inquiry, served: Sequence[str]) -> Choice:
        """Return one of the checkpoints that are served, the default of which comes first."""


POLICIES = {
    "fixed": "app.routing.fixed:Fixed",
    "by_question_length": "app.routing.question_length:ByQuestionLength",
    "by_retrieval_confidence": "app.routing.retrieval_confidence:ByRetrievalConfidence",
}
"""Name to class; the first is the default."""
