"""The index as the caller of a request may see it: the one place where keys meet collections.

Routes and answering have only this, never the index itself, so that a new route cannot forget to ask. What is not in
this class is not there for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date

import terminal
from app.access.caller import current_caller
from indexer.errors import CollectionNotFound
from indexer.index import Index
from indexer.search.hits import Hit, SearchResult
from indexer.search.options import SearchOptions
from indexer.store.records import DocumentDetail, DocumentRow, VersionRow


class GuardedIndex:
    """Reads an index for the current caller. Every method may raise `Forbidden`, and what that of `Index` raises."""

    def __init__(self, index: Index) -> None:
        """Take the index that is guarded."""
        self._index = index

    @property
    def embedder_name(self) -> str:
        """See `Index.embedder_name`."""
        return self._index.embedder_name

    def collections(self) -> dict[str, int]:
        """Return the collections that the caller may use, with their generations."""
        return _visible(self._index.collections())

    def revisions(self) -> dict[str, int]:
        """Return the collections that the caller may use, with their revisions."""
        return _visible(self._index.revisions())

    def search(
        self, collection: str, question: str, top_k: int = 5, options: SearchOptions | None = None
    ) -> SearchResult:
        """See `Index.search`."""
        with self._allowed(collection):
            return self._index.search(collection, question, top_k, options)

    def passages(self, ids: Sequence[int]) -> tuple[Hit, ...]:
        """See `Index.passages`; one of another collection is as missing as one that never was."""
        return self._index.passages(ids, current_caller().collections)

    def stretches(self, spans: Sequence[tuple[int, int, int]]) -> tuple[str | None, ...]:
        """See `Index.stretches`; one of another collection is as missing as one that never was."""
        return self._index.stretches(spans, current_caller().collections)

    def documents(self, collection: str, after: str | None = None, limit: int = 100) -> tuple[DocumentRow, ...]:
        """See `Index.documents`."""
        with self._allowed(collection):
            return self._index.documents(collection, after, limit)

    def count_documents(self, collection: str) -> int:
        """See `Index.count_documents`."""
        with self._allowed(collection):
            return self._index.count_documents(collection)

    def versions(self, collection: str, document_id: str) -> tuple[VersionRow, ...]:
        """See `Index.versions`."""
        with self._allowed(collection):
            return self._index.versions(collection, document_id)

    def document(
        self, collection: str, document_id: str, version: int | None = None, as_of: date | None = None
    ) -> DocumentDetail:
        """See `Index.document`."""
        with self._allowed(collection):
            return self._index.document(collection, document_id, version, as_of)

    @contextmanager
    def _allowed(self, collection: str) -> Iterator[None]:
        caller = current_caller()
        caller.require_collection(collection)
        try:
            yield
        except CollectionNotFound as error:
            if caller.collections is None:
                raise
            # The index's own message names every collection of the store.
            names = list(self.collections())
            raise CollectionNotFound(
                f"There is no collection {collection!r}.{terminal.did_you_mean(collection, names)} "
                f"Of those that the key {caller.name!r} may use there are: {', '.join(names) or 'none'}."
            ) from error


def _visible(found: dict[str, int]) -> dict[str, int]:
    """Return those of the collections that the caller may use."""
    allowed = current_caller().collections
    return found if allowed is None else {name: value for name, value in found.items() if name in allowed}
