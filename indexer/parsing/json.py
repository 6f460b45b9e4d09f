"""JSON: an array of documents, or one, `{"id": …, "text": …, "title": …}`; anything else is a text as it stands."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from indexer.parsing.encodings import TextFile, read_text
from indexer.parsing.fields import make_document
from indexer.parsing.jsonl import document_fields
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import NotThisFormat, Parsed, SourceFile, Unparsable, Unreadable


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed | Unreadable]:
    """Yield the documents of a JSON file."""
    read = read_text(file, limits)
    try:
        value = json.loads(read.text) if read.text.strip() else None
    except json.JSONDecodeError as error:
        raise NotThisFormat(f"not JSON: {error.msg} in line {error.lineno}, character {error.colno}") from error
    if _is_document(value):
        yield _one(file, read, value)
    elif isinstance(value, list) and any(map(_is_document, value)):
        yield from _many(file, value, read.notes)
    else:
        text = read.text.strip("\n")
        # A value on one line cannot be read, nor cut well.
        shown = text if "\n" in text or len(text) < 200 else json.dumps(value, ensure_ascii=False, indent=1)
        document = make_document(file.id, shown, {"title": file.path.stem})
        yield Parsed(document, read.content.hash, read.content.size, notes=read.notes)


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str)


def _one(file: SourceFile, read: TextFile, value: Any) -> Parsed:
    id_, text, fields = document_fields(value)
    document = make_document(id_ or file.id, text, {"title": file.path.stem, **fields})
    return Parsed(document, read.content.hash, read.content.size, notes=read.notes)


def _many(file: SourceFile, values: list[Any], notes: tuple[str, ...]) -> Iterator[Parsed | Unreadable]:
    """Yield the documents of an array; what goes wrong with one is told by its place, counted from 1."""
    taken: dict[str, int] = {}
    for place, value in enumerate(values, start=1):
        raw = json.dumps(value, sort_keys=True).encode()
        try:
            id_, text, fields = document_fields(value)
            document = make_document(id_ or f"{file.id}:{place}", text, fields)
        except Unparsable as error:
            yield Unreadable(f"document {place}: {error}", len(raw))
            continue
        if taken.setdefault(document.id, place) != place:
            yield Unreadable(f"document {place}: the id {document.id!r} is taken by {taken[document.id]}", len(raw))
        else:
            yield Parsed(document, hashlib.sha256(raw).hexdigest(), len(raw), notes=notes)
