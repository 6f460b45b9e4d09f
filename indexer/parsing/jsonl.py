"""JSONL: a corpus document on every line, `{"id": …, "text": …}` with the further fields of `corpus.schema.Document`.

A line that is not one is reported with its number, and the others are read. The file is read line by line, whatever
its length.
"""

from __future__ import annotations

import codecs
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from corpus.schema import Document
from indexer.parsing.source import Parsed, SourceFile, Unreadable, decode


def parse(file: SourceFile) -> Iterator[Parsed | Unreadable]:
    """Yield the document of every line that is not blank, or why it is none."""
    lines: dict[str, int] = {}
    with _lines(file) as content:
        for number, line in enumerate(content, start=1):
            if not line.strip():
                continue
            parsed = _parse_line(line, number)
            if isinstance(parsed, Parsed):
                first = lines.setdefault(parsed.document.id, number)
                if first != number:
                    reason = f"the id {parsed.document.id!r} is taken by line {first}"
                    parsed = Unreadable(reason, len(line), number)
            yield parsed


def _parse_line(line: bytes, number: int) -> Parsed | Unreadable:
    try:
        document = Document.model_validate_json(line)
    except ValidationError as error:
        problems = "; ".join(_problem(problem["loc"], problem["msg"]) for problem in error.errors())
        return Unreadable(problems, len(line), number)
    if "\0" in document.text:
        return Unreadable(f"text: NUL at character {document.text.index(chr(0))}", len(line), number)
    return Parsed(document, hashlib.sha256(line.strip()).hexdigest(), len(line))


@contextmanager
def _lines(file: SourceFile) -> Iterator[io.BufferedIOBase]:
    """Open the file so that its lines are UTF-8 without a byte order mark."""
    with file.path.open("rb") as content:
        start = content.read(3)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            yield io.BytesIO(decode(start + content.read()).encode())
            return
        if start != codecs.BOM_UTF8:
            content.seek(0)
        yield content


def _problem(location: tuple[int | str, ...], message: str) -> str:
    return f"{'.'.join(map(str, location))}: {message}" if location else message
