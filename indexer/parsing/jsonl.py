"""JSONL: a document on every line, `{"id": …, "text": …, "title": …, "metadata": {…}}`.

The fields of `corpus.schema.Document` are taken by their names, any other becomes metadata. A document without an id
is called by its file and line. A line that is no document is reported with its number, and the others are read. The
file is read line by line, whatever its length.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from indexer.parsing.encodings import decode
from indexer.parsing.fields import make_document
from indexer.parsing.limits import MEBIBYTE, ParsingLimits
from indexer.parsing.source import NotText, Parsed, SourceFile, Unparsable, Unreadable

SKIPPED_BYTES = 1 << 16
WIDE_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""The mark of UTF-32 LE begins with that of UTF-16 LE."""


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed | Unreadable]:
    """Yield the document of every line that is not blank, or why it is none."""
    taken: dict[str, int] = {}
    with _opened(file, limits) as content:
        for number, line in _lines(content, limits.line_bytes):
            if isinstance(line, int):
                reason = f"a line of more than {limits.line_bytes // MEBIBYTE} MiB"
                yield Unreadable(reason, line, number)
            elif line.strip():
                yield _parse_line(file.id, line, number, taken)


def document_fields(value: Any) -> tuple[str | None, str, dict[str, Any]]:
    """Take the id, the text and the other fields out of an object of JSON.

    Raises:
        Unparsable: it is no object with a text.
    """
    if not isinstance(value, dict):
        raise Unparsable(f"not an object {{…}}, but {type(value).__name__}")
    fields = dict(value)
    text = fields.pop("text", None)
    if not isinstance(text, str):
        raise Unparsable("text: missing" if text is None else "text: not a string")
    id_ = fields.pop("id", None)
    id_ = fields.pop("_id", None) if id_ is None else id_
    if id_ is not None and (isinstance(id_, bool) or not isinstance(id_, str | int) or id_ == ""):
        raise Unparsable(f"id: {id_!r} is no id: a string or a whole number is")
    return None if id_ is None else str(id_), text, fields


def _parse_line(file_id: str, line: bytes, number: int, taken: dict[str, int]) -> Parsed | Unreadable:
    """Read a line; `taken` says which ids were met on which lines."""
    try:
        id_, text, fields = document_fields(_load(line))
        document = make_document(id_ or f"{file_id}:{number}", text, fields)
    except Unparsable as error:
        return Unreadable(str(error), len(line), number)
    first = taken.setdefault(document.id, number)
    if first != number:
        return Unreadable(f"the id {document.id!r} is taken by line {first}", len(line), number)
    return Parsed(document, hashlib.sha256(line.strip()).hexdigest(), len(line))


def _load(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise NotText(f"not UTF-8 text at byte {error.start} of the line") from error
    except json.JSONDecodeError as error:
        raise Unparsable(f"not JSON: {error.msg} at character {error.colno}") from error
    except RecursionError:
        raise Unparsable("not JSON that is read: nested too deeply") from None


def _lines(content: BinaryIO, longest: int) -> Iterator[tuple[int, bytes | int]]:
    """Yield lines with their numbers from 1; of one that is longer than `longest` bytes only how long it is."""
    number = 0
    while line := content.readline(longest + 1):
        number += 1
        size = len(line)
        if size <= longest:
            yield number, line
            continue
        while line and not line.endswith(b"\n"):
            line = content.readline(SKIPPED_BYTES)
            size += len(line)
        yield number, size


@contextmanager
def _opened(file: SourceFile, limits: ParsingLimits) -> Iterator[BinaryIO]:
    """Open the file so that its lines are UTF-8 without a byte order mark."""
    with file.open() as content:
        start = content.read(4)
        if start.startswith(WIDE_BOMS):
            yield io.BytesIO(decode(file.read(limits).data)[0].encode())
            return
        content.seek(len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0)
        yield content
