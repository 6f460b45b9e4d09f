"""The prompt without passages: what does the model know by itself?

A fine-tuned checkpoint is trained on exactly these messages and asked with them, so the wording is plain and short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from app.schemas.passage import Passage
from app.schemas.prompt import Message

SYSTEM = "Answer the question with a short phrase."


class ClosedBook:
    """`closed_book@1`: an instruction and the question."""

    name: ClassVar[str] = "closed_book@1"

    def render(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:  # noqa: ARG002
        """Return the messages; passages are no part of them."""
        return (Message(role="system", content=SYSTEM), Message(role="user", content=question))
