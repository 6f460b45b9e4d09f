"""The prompts: text around the question and its passages, each with a name and a version.

A name without a version means the last one.

To add one: a file with a class, and a line in `PROMPTS`. A changed wording is a new version, so that an answer names
the prompt that made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from app.prompting.closed_book import ClosedBook
from app.prompting.passages import Passages
from app.prompting.worked_examples import BestFirst, BestLast
from app.schemas.passage import Passage
from app.schemas.prompt import Message


class PromptTemplate(Protocol):
    """Turns a question and its passages into chat messages. The same input gives the same bytes."""

    name: ClassVar[str]
    """`name@version`."""

    def render(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        """Return the messages, the stable text first and the question last, for the engine's prefix cache."""


TEMPLATES: tuple[PromptTemplate, ...] = (ClosedBook(), Passages(), BestFirst(), BestLast())
PROMPTS = {template.name: template for template in TEMPLATES}
