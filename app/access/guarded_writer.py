"""Changes of the index on behalf of the caller of a request: what `GuardedIndex` is for reading.

Each takes the lock of the store, as every writer does, and counts from the caller's next question on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from app.access.allowing import allowed
from app.access.caller import in_context
from indexer.index import Index
from indexer.ingesting.deletion import delete, delete_collection
from indexer.settings import IndexerSettings
from indexer.store.records import Collection

Result = TypeVar("Result")

LONGEST_WAIT_SECONDS = 10.0
"""How long a request waits while another process writes; a command may wait longer."""
THREADS = 4
"""Of its own, so that requests that wait for the lock keep no others waiting."""


class GuardedWriter:
    """Writes to the store of an index. Every method may raise `Forbidden` and `StoreLocked`."""

    def __init__(self, index: Index) -> None:
        """Take the index whose store is written."""
        self._index = index
        settings = IndexerSettings()
        wait = min(settings.lock_wait_seconds, LONGEST_WAIT_SECONDS)
        self._settings = settings.model_copy(update={"lock_wait_seconds": wait})
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="write")

    async def delete_document(self, collection: str, document_id: str) -> Collection:
        """Delete a document with all its versions; return the collection as it is then.

        Raises:
            indexer.errors.NotFound: There is no such document.
        """
        return await self._write(
            collection, lambda: delete(self._index.folder, collection, [document_id], self._settings)
        )

    async def delete_collection(self, collection: str) -> Collection:
        """Delete a collection; return it as it was.

        Raises:
            indexer.errors.NotFound: There is none of that name.
        """
        return await self._write(collection, lambda: delete_collection(self._index.folder, collection, self._settings))

    def close(self) -> None:
        """End its threads."""
        self._pool.shutdown()

    async def _write(self, collection: str, work: Callable[[], Result]) -> Result:
        def within() -> Result:
            with allowed(self._index, collection):
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._pool, in_context(within))
