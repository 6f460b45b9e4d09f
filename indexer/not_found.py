"""The errors for what was asked for by name and is not in the store, each with the nearest that is."""

from __future__ import annotations

import sqlite3

from indexer.errors import CollectionNotFound, DocumentNotFound
from indexer.store import queries
from terminal import did_you_mean


def collection_not_found(connection: sqlite3.Connection, name: str) -> CollectionNotFound:
    """Return the error for a collection that does not exist, with those that do."""
    names = list(queries.collections(connection))
    if not names:
        return CollectionNotFound(
            f"There is no collection {name!r}: the store is empty. Add documents with `openbook ingest PATH`."
        )
    return CollectionNotFound(
        f"There is no collection {name!r}.{did_you_mean(name, names)} The store holds: {', '.join(names)}."
    )


def document_not_found(connection: sqlite3.Connection, collection: str, document_id: str) -> DocumentNotFound:
    """Return the error for a document that does not exist, with the nearest id."""
    hint = did_you_mean(document_id, queries.document_ids(connection, collection))
    return DocumentNotFound(
        f"There is no document {document_id!r} in the collection {collection!r}.{hint} "
        "`openbook documents list` shows them all."
    )


def version_not_found(connection: sqlite3.Connection, collection: str, document_id: str) -> DocumentNotFound:
    """Return the error for a version that does not exist, with those that do."""
    versions = queries.versions(connection, collection, document_id)
    if not versions:
        return document_not_found(connection, collection, document_id)
    known = ", ".join(f"{row.version} of {row.effective or row.indexed.date()}" for row in reversed(versions))
    return DocumentNotFound(f"The document {document_id!r} has no such version. It has the versions {known}.")
