"""Things in groups, without holding all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def in_groups(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the things in their order, `size` at a time."""
    iterator = iter(things)
    while group := list(islice(iterator, size)):
        yield group
