"""How many values are bound to one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

VARIABLES = 500
"""How many values one query binds; SQLite allows more, older builds 999."""


def batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the values in groups that one query can bind."""
    for start in range(0, len(values), VARIABLES):
        yield values[start : start + VARIABLES]


def marks(values: Sequence[object]) -> str:
    """Return a question mark for each value, with commas between."""
    return ",".join("?" * len(values))
