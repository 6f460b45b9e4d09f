"""The layout of a text as the store keeps it: headings, tables and pages. With it, no file is needed to cut it anew."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple

from corpus.schema import Document
from indexer.parsing.source import Heading, Parsed, Table


def layout_json(parsed: Parsed) -> str:
    """Return the layout of what was read, as JSON."""
    layout = {
        "headings": [astuple(heading) for heading in parsed.headings],
        "tables": [astuple(table) for table in parsed.tables],
        "pages": list(parsed.pages),
    }
    return json.dumps({name: value for name, value in layout.items() if value}, ensure_ascii=False)


def parsed_again(document: Document, source_hash: str, layout: str) -> Parsed:
    """Return what was read when the document was stored; the notes of that time are not kept."""
    fields: dict[str, Sequence[Sequence[int | str]]] = json.loads(layout)
    return Parsed(
        document=document,
        source_hash=source_hash,
        size=len(document.text.encode("utf-8")),
        headings=tuple(Heading(*heading) for heading in fields.get("headings", ())),  # type: ignore[arg-type]
        tables=tuple(Table(*table) for table in fields.get("tables", ())),  # type: ignore[arg-type]
        pages=tuple(fields.get("pages", ())),  # type: ignore[arg-type]
    )
