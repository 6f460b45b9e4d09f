"""The formats that are read: a parser for each suffix. Another format is one file and one line here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from indexer.parsing import jsonl, markdown, text
from indexer.parsing.source import Parsed, SourceFile, Unreadable


class Parser(Protocol):
    """Reads one file."""

    def __call__(self, file: SourceFile) -> Iterator[Parsed | Unreadable]:
        """Yield the documents of the file, and what in it is not one."""


PARSERS: dict[str, Parser] = {
    ".md": markdown.parse,
    ".markdown": markdown.parse,
    ".txt": text.parse,
    ".text": text.parse,
    ".jsonl": jsonl.parse,
}
