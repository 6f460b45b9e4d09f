"""Documents on their way in."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from app.schemas.collection import CollectionName
from app.schemas.schema import Schema

MOST_ID = 512
MOST_METADATA = 64


def _printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("holds characters that cannot be printed")
    return value


DocumentId = Annotated[str, Field(min_length=1, max_length=MOST_ID), AfterValidator(_printable)]
Metadata = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=128)], Annotated[str, Field(max_length=4096)]],
    Field(max_length=MOST_METADATA),
]


class Provided(Schema):
    """What a sender may say of documents."""

    collection: CollectionName = "default"
    """Made where there is none of that name."""
    effective: date | None = None
    """The day from which they hold."""
    authority: int | None = Field(default=None, ge=0, le=2**31 - 1)
    """How much they are to be believed: a higher number wins over a lower one."""
    supersedes: DocumentId | None = None
    """The id of the document that they replace."""
    metadata: Metadata = Field(default_factory=dict)


class DocumentUpload(Provided):
    """`POST /v1/documents` with JSON: one document."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "harbour/tides.md",
                    "title": "Tides",
                    "text": "The tide tables of Saltmere are kept by the harbour master.",
                    "metadata": {"team": "harbour"},
                    "effective": "2026-01-01",
                }
            ]
        }
    )

    id: DocumentId
    """Of the document. One that is known gets another version, where the text differs."""
    text: str = Field(min_length=1)
    title: str = Field(default="", max_length=1024)


class FileUpload(Provided):
    """The fields of `POST /v1/documents` beside its files, with `multipart/form-data`.

    What they say holds for documents that do not say otherwise themselves, as in the front matter of Markdown.
    """

    id: DocumentId | None = None
    """Of the document, where there is one file that is one document; else it is the file's name."""
