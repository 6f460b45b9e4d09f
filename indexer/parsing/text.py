"""Plain text: the whole file is the document, and its name the title."""

from __future__ import annotations

from collections.abc import Iterator

from corpus.schema import Document
from indexer.parsing.source import Parsed, SourceFile, read_document


def parse(file: SourceFile) -> Iterator[Parsed]:
    """Yield the one document of a text file."""
    text, source_hash, size = read_document(file)
    yield Parsed(Document(id=file.id, text=text.strip("\n"), title=file.path.stem), source_hash, size)
