"""A prompt template: text around the question and its passages, read from a file, with a name and a version.

Its stable text comes first and the question last, so that the engine finds the beginning in its prefix cache.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from app.prompting.frame import Frame
from app.schemas.passage import Passage
from app.schemas.prompt import Message
from app.schemas.schema import Schema
from app.schemas.template import TemplateView

FENCE_CHARACTERS = 16


def _pattern(*allowed: str) -> AfterValidator:
    """Accept a text whose placeholders are among these."""

    def check(text: str) -> str:
        try:
            fields = [(field, spec or conversion) for _, field, spec, conversion in string.Formatter().parse(text)]
        except ValueError as error:
            raise ValueError(f"{error}; write a brace of its own twice") from error
        unknown = [field for field, extra in fields if field is not None and (field not in allowed or extra)]
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in allowed)
            raise ValueError(f"unknown placeholder {{{unknown[0]}}}; there are {known}. Write a brace of its own twice")
        return text

    return AfterValidator(check)


class ShownPassage(Schema):
    """A passage of a worked example."""

    title: str = ""
    text: str


class Example(Schema):
    """A question with its passages and its answer, shown as two turns."""

    passages: tuple[ShownPassage, ...] = ()
    question: str
    answer: str


class Template(Schema):
    """A template with everything that its file says. The same input gives the same bytes."""

    name: str
    """`name@version`."""
    about: str
    system: Annotated[str, Field(min_length=1)]
    passage: Annotated[str, _pattern("label", "title", "text", "fence")] = ""
    """How a passage is shown; space around a line that does not hold its text is taken away."""
    order: Literal["best_first", "best_last"] = "best_first"
    ask: Annotated[str, _pattern("passages", "question", "fence")]
    """The last message."""
    examples: tuple[Example, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Template:
        if "{question}" not in self.ask:
            raise ValueError("ask: the placeholder {question} is missing")
        if bool(self.passage) != ("{passages}" in self.ask):
            raise ValueError("passage and the placeholder {passages} of ask go together; one of them is missing")
        if self.passage and not {"{label}", "{text}"} <= {f"{{{name}}}" for name in _fields(self.passage)}:
            raise ValueError("passage: the placeholders {label} and {text} must both be there")
        return self

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all that reaches a model."""
        content = self.model_dump_json(exclude={"name", "about"})
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def stable(self) -> tuple[Message, ...]:
        """What every prompt begins with."""
        shown = [message for example in self.examples for message in self._turns(example)]
        return (Message(role="system", content=self.system), *shown)

    @cached_property
    def frame(self) -> Frame:
        """The beginnings of lines that only the template may write."""
        return Frame([*self.passage.splitlines(), *self.ask.splitlines()])

    def render(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        """Return the messages, the stable text first and the question last; passages are given best first."""
        shown = [(each.label, each.title, each.text) for each in passages]
        return (*self.stable, self._ask(question, shown if self.order == "best_first" else shown[::-1]))

    def view(self, default: bool) -> TemplateView:
        """Return it as the API shows it."""
        fields = self.model_dump(include={"about", "system", "passage", "order", "ask"})
        examples = len(self.examples)
        return TemplateView(**fields, prompt=self.name, prompt_hash=self.hash, examples=examples, default=default)

    def _turns(self, example: Example) -> tuple[Message, Message]:
        shown = [(label, each.title, each.text) for label, each in enumerate(example.passages, 1)]
        return self._ask(example.question, shown), Message(role="assistant", content=example.answer)

    def _ask(self, question: str, shown: Sequence[tuple[int, str, str]]) -> Message:
        fence = _fence(shown) if "{fence}" in self.ask or "{fence}" in self.passage else ""
        book = "\n\n".join(
            self._show({"label": str(label), "title": title, "text": text, "fence": fence})
            for label, title, text in shown
        )
        return Message(role="user", content=_filled(self.ask, {"passages": book, "question": question, "fence": fence}))

    def _show(self, values: Mapping[str, str]) -> str:
        lines = [(line, _filled(line, values)) for line in self.passage.split("\n")]
        return "\n".join(filled if "{text}" in line else filled.strip() for line, filled in lines)


def _fields(pattern: str) -> list[str]:
    return [field for _, field, _, _ in string.Formatter().parse(pattern) if field]


def _filled(pattern: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders in, once: what looks like one in a value stays text."""
    return pattern.format_map(values)


def _fence(shown: Sequence[tuple[int, str, str]]) -> str:
    """Return letters and digits that depend on the passages: 64 bits, so none can be written that holds its own."""
    return hashlib.sha256(repr(shown).encode("utf-8", "surrogatepass")).hexdigest()[:FENCE_CHARACTERS]
