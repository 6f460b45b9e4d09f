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


MODULES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".rst": "restructured",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".xlsx": "xlsx",
    ".epub": "epub",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
"""The module here that reads files of a suffix."""


def _lazy(name: str) -> Parser:
    """Return the parser of a module here, whose libraries are loaded with the first file of its format."""

    def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed | Unreadable]:
        parser: Parser = import_module(f"{__name__}.{name}").parse
        return parser(file, limits)

    return parse


def load(suffix: str) -> None:
    """Load the libraries for files of a suffix now."""
    if suffix in MODULES:
        import_module(f"{__name__}.{MODULES[suffix]}")


PARSERS: dict[str, Parser] = {suffix: _lazy(name) for suffix, name in MODULES.items()}

PLAIN = frozenset({".md", ".markdown", ".txt", ".text", ".jsonl", ".ndjson"})
"""The formats that cost next to nothing to read: many small files of them travel to a worker together."""
