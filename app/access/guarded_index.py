"""The index as the caller of a request may see it: the one place where keys meet collections.

Routes and answering have only this, never the index itself, so that a new route cannot forget to ask. What is not in
this class is not there for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from app.access.allowing import allowed
from app.access.caller import current_caller
from indexer.index import Index
from indexer.search.hits import Hit, SearchResult
from indexer.search.options import SearchOptions
from indexer.store.records import CollectionSummary, DocumentDetail, DocumentRow, VersionRow


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

    def collection(self, name: str) -> CollectionSummary:
        """See `Index.collection`."""
        with allowed(self._index, name):
            return self._index.collection(name)

    def search(
        self, collection: str, question: str, top_k: int = 5, options: SearchOptions | None = None
    ) -> SearchResult:
        """See `Index.search`."""
        with allowed(self._index, collection):
            return self._index.search(collection, question, top_k, options)

    def passages(self, ids: Sequence[int]) -> tuple[Hit, ...]:
        """See `Index.passages`; one of another collection is as missing as one that never was."""
        return self._index.passages(ids, current_caller().collections)

    def stretches(self, spans: Sequence[tuple[int, int, int]]) -> tuple[str | None, ...]:
        """See `Index.stretches`; one of another collection is as missing as one that never was."""
        return self._index.stretches(spans, current_caller().collections)

    def documents(self, collection: str, after: str | None = None, limit: int = 100) -> tuple[DocumentRow, ...]:
        """See `Index.documents`."""
        with allowed(self._index, collection):
            return self._index.documents(collection, after, limit)

    def count_documents(self, collection: str) -> int:
        """See `Index.count_documents`."""
        with allowed(self._index, collection):
            return self._index.count_documents(collection)

    def versions(self, collection: str, document_id: str) -> tuple[VersionRow, ...]:
        """See `Index.versions`."""
        with allowed(self._index, collection):
            return self._index.versions(collection, document_id)

    def document(
        self, collection: str, document_id: str, version: int | None = None, as_of: date | None = None
    ) -> DocumentDetail:
        """See `Index.document`."""
        with allowed(self._index, collection):
            return self._index.document(collection, document_id, version, as_of)


def _visible(found: dict[str, int]) -> dict[str, int]:
    """Return those of the collections that the caller may use."""
    allowed = current_caller().collections
    return found if allowed is None else {name: value for name, value in found.items() if name in allowed}
