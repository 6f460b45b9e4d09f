"""What a check finds, and what it is given to look at."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from indexer.store.records import Collection
from indexer.store.writer import StoreWriter

Level = Literal["pass", "warn", "fail"]


@dataclass(frozen=True)
class Patient:
    """A store that is looked at: one state of it, whoever writes meanwhile."""

    folder: Path
    connection: sqlite3.Connection
    """Read-only, within one transaction."""
    states: dict[str, Collection]


@dataclass(frozen=True)
class Finding:
    """Something that is not as it must be, or worth knowing."""

    level: Level
    """`fail`: answers can be wrong or missing; `warn`: they are right, but something should be done; `pass`: nothing is
    wrong, and this is how it is."""
    detail: str
    command: str | None = None
    """The command that mends it."""
    repair: Callable[[StoreWriter], object] | None = None
    """What `--fix` does about it; for what is derived from the texts, never for the texts."""


FIX = "openbook doctor --fix"


def few(values: list[str], shown: int = 3) -> str:
    """Return the first values, and how many more there are."""
    more = f" and {len(values) - shown:,} more" if len(values) > shown else ""
    return ", ".join(values[:shown]) + more
