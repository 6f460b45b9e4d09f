"""Plain text: the whole file is the document, and its name the title."""

from __future__ import annotations

from collections.abc import Iterator

from corpus.schema import Document
from indexer.parsing.encodings import read_text
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Parsed, SourceFile


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of a text file."""
    read = read_text(file, limits)
    document = Document(id=file.id, text=read.text.strip("\n"), title=file.path.stem)
    yield Parsed(document, read.content.hash, read.content.size, notes=read.notes)
