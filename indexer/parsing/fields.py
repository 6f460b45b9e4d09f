"""Named fields into a document: the front matter of Markdown, an object of JSON, a row of CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from pydantic import ValidationError

from corpus.schema import Document
from indexer.parsing.source import NotText, Unparsable

KNOWN = ("title", "effective", "authority", "supersedes")


class WrongFields(Unparsable):
    """The fields make no document."""


def make_document(id_: str, text: str, fields: Mapping[str, Any]) -> Document:
    """Return the document with its known fields by name, and all others as metadata.

    Raises:
        WrongFields: a known field has a value that it cannot have.
    """
    given = {str(name): value for name, value in fields.items() if value is not None}
    known = {name: given.pop(name) for name in KNOWN if name in given}
    if isinstance(known.get("effective"), datetime):
        known["effective"] = known["effective"].date()
    if "title" in known:
        known["title"] = as_text(known["title"])
    metadata = given.pop("metadata", {})
    named = metadata if isinstance(metadata, dict) else {"metadata": metadata}
    # What is said beside `metadata` and in it counts as it is said beside.
    merged = {str(name): as_text(value) for name, value in {**named, **given}.items() if value is not None}
    try:
        document = Document(id=id_, text=text, metadata=merged, **known)
    except ValidationError as error:
        raise WrongFields("; ".join(f"{problem['loc'][0]}: {problem['msg']}" for problem in error.errors())) from error
    _check_characters(document)
    return document


def as_text(value: object) -> str:
    """Return a value as metadata holds it: text as it is, dates in ISO form, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, date):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, default=str)


def _check_characters(document: Document) -> None:
    """Refuse characters that no store keeps: NUL, and halves of characters, which escapes may stand for."""
    if "\0" in document.text:
        raise NotText(f"text: NUL at character {document.text.index(chr(0))}")
    try:
        document.text.encode()
        "".join((document.id, document.title, document.supersedes or "")).encode()
        "".join((*document.metadata, *document.metadata.values())).encode()
    except UnicodeEncodeError as error:
        raise NotText(f"half a character (a lone surrogate, U+{ord(error.object[error.start]):04X})") from error
