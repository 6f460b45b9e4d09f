"""The prompt with passages: the open book.

Instruction first, then the numbered passages, the question last: requests that share passages share a prefix, which the
engine keeps in its cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from app.schemas.passage import Passage
from app.schemas.prompt import Message

SYSTEM = "Answer the question with a short phrase from the passages."


class Passages:
    """`passages@1`: an instruction, the passages as `[n] title` and text, and the question."""

    name: ClassVar[str] = "passages@1"

    def render(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        """Return the messages; the passages keep the order they are given in."""
        book = "\n\n".join(show(passage.label, passage.title, passage.text) for passage in passages)
        return (Message(role="system", content=SYSTEM), Message(role="user", content=f"{book}\n\nQuestion: {question}"))


def show(label: int, title: str, text: str) -> str:
    """Return a passage as the model sees it: its number, its title and its text."""
    return f"{f'[{label}] {title}'.strip()}\n{text}"
