"""The templates of prompts, as the API shows them."""

from __future__ import annotations

from typing import Literal

from app.schemas.schema import Schema


class TemplateView(Schema):
    """One template. What stands in braces is filled in."""

    prompt: str
    """`name@version`."""
    prompt_hash: str
    """SHA-256 of all in it that reaches a model."""
    about: str
    system: str
    passage: str
    """How each passage is shown; empty where none are."""
    order: Literal["best_first", "best_last"]
    ask: str
    """The last message."""
    examples: int
    """Questions with their answers that are shown before."""
    default: bool
    """Whether it is taken where passages were found and a request names none."""


class TemplateList(Schema):
    """`GET /v1/prompts`, in the order of names and versions."""

    prompts: tuple[TemplateView, ...]
