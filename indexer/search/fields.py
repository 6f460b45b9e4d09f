"""What a filter can ask about: the fields of a document and of a passage, and the keys of the metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "integer", "date", "time", "metadata"]

METADATA = "metadata."
"""Before a key that is also the name of a field, such as `metadata.title`."""


@dataclass(frozen=True)
class Field:
    """A field by its name, and where it stands in the tables of `indexer.search.scope`."""

    name: str
    kind: Kind
    column: str
    key: str | None = None
    """The key of the metadata."""


FIELDS = {
    field.name: field
    for field in (
        Field("id", "text", "d.id"),
        Field("title", "text", "v.title"),
        Field("source", "text", "v.source"),
        Field("authority", "integer", "v.authority"),
        Field("effective", "date", "v.effective"),
        Field("indexed", "time", "v.indexed"),
        Field("page", "integer", "c.page"),
    )
}


NULLABLE = ("effective", "page")
"""Fields that a document or a passage may lack."""


def metadata_field(key: str) -> Field:
    """Return the field of a metadata key; its column is that of the table in which each has a row."""
    return Field(METADATA + key, "metadata", "m.value", key)
