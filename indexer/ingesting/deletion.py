"""Documents out of the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indexer.not_found import collection_not_found, document_not_found
from indexer.publishing import publish_if_due
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.records import Collection
from indexer.store.writer import open_writer


def delete(
    folder: Path, collection: str, document_ids: Sequence[str], settings: IndexerSettings | None = None
) -> Collection:
    """Delete documents with their versions, chunks and vectors, and publish the index without them where it is due.

    Returns:
        The collection as it is now.

    Raises:
        CollectionNotFound: there is no such collection.
        DocumentNotFound: one of the documents is not in it; then none is deleted.
        StoreLocked: another process writes to the store.
    """
    settings = settings or IndexerSettings()
    with open_writer(folder, settings.lock_wait_seconds) as writer:
        if queries.collection(writer.connection, collection) is None:
            raise collection_not_found(writer.connection, collection)
        for id_ in document_ids:
            if queries.version_stamp(writer.connection, collection, id_) is None:
                raise document_not_found(writer.connection, collection, id_)
        writer.delete(collection, document_ids)
        return publish_if_due(writer, collection)
