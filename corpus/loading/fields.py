"""Fields of a row, taken with a message for everything that can be wrong with them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.loading.problems import Problems
from corpus.loading.text_files import Row


@dataclass(frozen=True)
class Place:
    """Where a row stands, and where its problems go."""

    path: Path
    at: int | str
    problems: Problems

    def wrong(self, message: str) -> None:
        """Note a problem here."""
        self.problems.add(self.path, self.at, message)


def take_text(row: Row, names: tuple[str, ...], place: Place, what: str) -> str | None:
    """Return the text under the first of the names that the row has; None after noting why there is none.

    A whole number is taken as its digits, since ids are often written so.
    """
    name = next((name for name in names if row.get(name) is not None), None)
    if name is None:
        place.wrong(f"{what} has no {names[0]!r}{_instead(names[0], row)}")
        return None
    value = row[name]
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        place.wrong(f"{name!r} is {_shown(value)}; it must be text")
        return None
    if not value.strip():
        place.wrong(f"{name!r} is blank; fill it in or remove the row")
        return None
    return value


def take_list(row: Row, names: tuple[str, ...], place: Place) -> tuple[str, ...]:
    """Return the texts under the first of the names that the row has, each once; nothing where it has none."""
    name = next((name for name in names if row.get(name) is not None), None)
    if name is None:
        return ()
    value = row[name]
    if not isinstance(value, list) or not all(isinstance(item, str | int) for item in value):
        place.wrong(f'{name!r} is {_shown(value)}; it must be a list of texts, e.g. ["…"]')
        return ()
    return tuple(dict.fromkeys(str(item) for item in value))


def nearest(value: str, options: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest option, or "" where none is near."""
    near = difflib.get_close_matches(value, list(options), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def _instead(name: str, row: Row) -> str:
    near = difflib.get_close_matches(name, [str(key) for key in row], n=1, cutoff=0.6)
    if near:
        return f", but it has {near[0]!r}; rename that"
    return f"; it has {', '.join(map(repr, row)) or 'nothing'}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
