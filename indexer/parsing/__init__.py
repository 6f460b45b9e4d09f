"""The formats that are read: a parser for each suffix. Another format is one file and one line here."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Protocol

from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Parsed, SourceFile, Unreadable


class Parser(Protocol):
    """Reads one file."""

    def __call__(self, file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed | Unreadable]:
        """Yield the documents of the file, and what in it is not one.

        Raises:
            Unparsable: the whole file is refused; the message is the reason.
        """


def _lazy(name: str) -> Parser:
    """Return the parser of a module here, whose libraries are loaded with the first file of its format."""

    def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed | Unreadable]:
        parser: Parser = import_module(f"indexer.parsing.{name}").parse
        return parser(file, limits)

    return parse


PARSERS: dict[str, Parser] = {
    ".md": _lazy("markdown"),
    ".markdown": _lazy("markdown"),
    ".txt": _lazy("text"),
    ".text": _lazy("text"),
    ".rst": _lazy("restructured"),
    ".html": _lazy("html"),
    ".htm": _lazy("html"),
    ".xhtml": _lazy("html"),
    ".pdf": _lazy("pdf"),
    ".docx": _lazy("docx"),
    ".pptx": _lazy("pptx"),
    ".xlsx": _lazy("xlsx"),
    ".epub": _lazy("epub"),
    ".csv": _lazy("csv"),
    ".tsv": _lazy("csv"),
    ".json": _lazy("json"),
    ".jsonl": _lazy("jsonl"),
    ".ndjson": _lazy("jsonl"),
}

PLAIN = frozenset({".md", ".markdown", ".txt", ".text", ".jsonl", ".ndjson"})
"""The formats that cost next to nothing to read: many small files of them travel to a worker together."""
