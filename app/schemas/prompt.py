"""Messages, and the final prompt made of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.schemas.passage import DroppedPassage, NothingFound, Passage
from app.schemas.schema import Schema

MAX_TEXT = 8192

"""Characters of a question, and of each earlier turn."""

MAX_HISTORY = 64

"""Earlier turns of a conversation."""


class Message(Schema):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


class Turn(Message):
    """An earlier message of a conversation."""

    content: str = Field(max_length=MAX_TEXT)


class Prompt(Schema):
    """The final prompt of a request, before generation: `POST /v1/prompts`."""

    messages: tuple[Message, ...]
    """None where nothing was found to answer from: the engine would not be asked."""
    prompt: str
    """Name and version of the template, e.g. `passages@1`."""
    prompt_hash: str = ""
    """SHA-256 of all in the template that reaches a model."""
    passages: tuple[Passage, ...]
    dropped_passages: tuple[DroppedPassage, ...] = ()
    """The retrieved passages that are not part of it, best first."""
    dropped_turns: int = 0
    """How many of the earlier turns did not fit into the model's context."""
    answerable: bool = True
    """False where a search found nothing to answer from."""
    nothing_found: NothingFound | None = None
    """Why; None where passages were found, or where nothing was searched."""
