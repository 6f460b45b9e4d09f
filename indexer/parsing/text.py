"""Plain text: the whole file is the document, and its name the title."""

from __future__ import annotations

from collections.abc import Iterator

from corpus.schema import Document
from indexer.parsing.encodings import read_text
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Parsed, SourceFile


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of a text file."""
    text, content = read_text(file, limits)
    yield Parsed(Document(id=file.id, text=text.strip("\n"), title=file.path.stem), content.hash, content.size)
