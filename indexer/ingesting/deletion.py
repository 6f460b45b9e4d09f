"""Documents out of the store."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from indexer.not_found import collection_not_found, document_not_found
from indexer.publishing import publish_if_due, vectors_home
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


def delete_collection(folder: Path, collection: str, settings: IndexerSettings | None = None) -> Collection:
    """Delete a collection with all that is in it, and its published indexes.

    Returns:
        The collection as it was.

    Raises:
        CollectionNotFound: there is no such collection.
        StoreLocked: another process writes to the store.
    """
    settings = settings or IndexerSettings()
    with open_writer(folder, settings.lock_wait_seconds) as writer:
        state = queries.collection(writer.connection, collection)
        if state is None:
            raise collection_not_found(writer.connection, collection)
        writer.delete_collection(state)
        # What is left of it after a kill is derived, and `openbook doctor --fix` removes it.
        shutil.rmtree(vectors_home(folder, collection), ignore_errors=True)
        return state
