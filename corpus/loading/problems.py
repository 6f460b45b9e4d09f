"""What is wrong with a corpus, gathered so that one error names all of it."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from corpus.errors import CorpusError

SHOWN = 20
"""More problems than this are counted, not shown."""


class Problems:
    """The problems of one corpus, in the order in which they were found."""

    def __init__(self, corpus: Path) -> None:
        """Start with none, for the corpus at that path."""
        self.corpus = corpus
        self.found: list[str] = []

    def add(self, path: Path, place: int | str | None, message: str) -> None:
        """Note a problem of a file at a line, at a place such as `data[0].title`, or as a whole (None)."""
        self.found.append(f"{path}: {message}" if place is None else f"{path}:{place}: {message}")

    def stop(self, path: Path, place: int | str | None, message: str) -> NoReturn:
        """Note a problem after which nothing more can be found out, and raise.

        Raises:
            CorpusError: Always.
        """
        self.add(path, place, message)
        self.raise_if_any()
        raise AssertionError("a problem was noted")

    def raise_if_any(self) -> None:
        """Raise one error with every problem.

        Raises:
            CorpusError: There is at least one problem.
        """
        if not self.found:
            return
        if len(self.found) == 1:
            raise CorpusError(f"The corpus cannot be read. {self.found[0]}")
        shown = [f"  {problem}" for problem in self.found[:SHOWN]]
        if len(self.found) > SHOWN:
            shown.append(f"  … and {len(self.found) - SHOWN} more")
        head = f"The corpus {self.corpus} cannot be read; it has {len(self.found)} problems:"
        raise CorpusError("\n".join([head, *shown]))
