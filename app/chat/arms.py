"""The arms as model names, so that any client of OpenAI's API can choose one.

`openbook/rag` answers with the checkpoint being served; `NAME@VERSION/rag` with exactly that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import terminal
from app.errors import ModelNotServed
from app.schemas.arm import RetrieverName

RETRIEVERS: dict[str, RetrieverName] = {
    "rag": "dense",
    "rag_lexical": "lexical",
    "rag_hybrid": "hybrid",
    "closed_book": "none",
}
"""How the arm of each name finds its passages; the first is the default."""
ORACLE = "oracle"
"""The arm of a request that names its passages itself; it is no model of OpenAI's paths."""
SERVED = "openbook"
"""Stands for the checkpoint being served."""


@dataclass(frozen=True)
class Arm:
    """A model of `GET /v1/models`."""

    name: str
    checkpoint: str | None
    """None takes the one being served at the time of the question, or what the routing policy says."""
    retriever: RetrieverName


def list_arms(checkpoints: Sequence[str]) -> tuple[Arm, ...]:
    """Return every arm of the served checkpoints, whose first is the default; the default arm comes first."""
    prefixes = [(SERVED, None), *((checkpoint, checkpoint) for checkpoint in checkpoints)]
    return tuple(
        Arm(f"{prefix}/{name}", checkpoint, retriever)
        for prefix, checkpoint in prefixes
        for name, retriever in RETRIEVERS.items()
    )


def arm_of(retriever: RetrieverName) -> str:
    """Return the name of the arm that finds its passages in this way."""
    return next((name for name, finds in RETRIEVERS.items() if finds == retriever), ORACLE)


def find_arm(name: str | None, arms: Iterable[Arm]) -> Arm:
    """Return the arm of that name; without one, the default.

    Raises:
        ModelNotServed: There is no such arm.
    """
    by_name = {arm.name: arm for arm in arms}
    if name is None:
        return next(iter(by_name.values()))
    if name not in by_name:
        hint = terminal.did_you_mean(name, list(by_name))
        raise ModelNotServed(f"There is no model {name!r}.{hint} Models: {', '.join(by_name)}.")
    return by_name[name]
