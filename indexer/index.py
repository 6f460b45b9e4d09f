"""The index as it is read: questions in, passages out, while another process may be writing.

Vectors say which chunks are near, the store says which chunks there are: every hit is looked up among the live chunks,
so that a deleted or replaced one is never returned, however old the vectors are. Each search first looks whether the
collection has changed, and goes on with the snapshot it has while another thread loads the next.
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from indexer.embedding.embedders import Embedders
from indexer.errors import PassageNotFound
from indexer.not_found import collection_not_found, document_not_found, version_not_found
from indexer.publishing import kind_of_index
from indexer.search.asked import Asked
from indexer.search.hits import Hit, SearchResult, hit
from indexer.search.options import SearchOptions
from indexer.search.pipeline import Pipeline
from indexer.search.reranking import Rerankers
from indexer.search.scope import Scope, open_scope
from indexer.settings import IndexerSettings
from indexer.snapshot import CollectionRebuilt, Snapshot, load
from indexer.store import queries
from indexer.store.database import Connections, snapshot
from indexer.store.records import Collection, CollectionSummary, DocumentDetail, DocumentRow, PassageRow, VersionRow

NO_VERSION = 0
"""A key that no version has."""
GIVEN_SCORE = 1.0
"""The score of a passage that was asked for by id."""


class Index:
    """A read view of a store that follows every commit. Threads may share it."""

    def __init__(self, folder: Path, connections: Connections, embedders: Embedders) -> None:
        """Use `Index.open`."""
        self.folder = folder
        self._connections = connections
        self._embedders = embedders
        self._rerankers = Rerankers()
        self._snapshots: dict[str, Snapshot] = {}
        self._loading = threading.Lock()

    @classmethod
    def open(cls, store_dir: Path, embedder: str | None = None, settings: IndexerSettings | None = None) -> Index:
        """Open the store in `store_dir`, which is made where there is none.

        Args:
            store_dir: the folder of the store.
            embedder: the embedding model; None takes the one that each collection was embedded with.
            settings: None reads the environment.

        Raises:
            StoreDamaged, StoreUnreachable: the store cannot be opened.
        """
        return cls(store_dir, Connections(store_dir), Embedders(embedder, settings or IndexerSettings()))

    def close(self) -> None:
        """Close the store."""
        self._connections.close()

    def warm_up(self) -> None:
        """Load the embedding model and the vectors, so that the first question does not wait for them.

        Raises:
            EmbedderError: a model cannot be loaded.
            EmbedderMismatch: a collection was embedded with another model.
        """
        with self._connections.reading() as connection:
            states = queries.collections(connection)
            if not states:
                self._embedders.load(None)
            for state in states.values():
                self._embedders.load(state)
                with contextlib.suppress(CollectionRebuilt):
                    self._snapshot(connection, state)

    @property
    def embedder_name(self) -> str:
        """The embedding model of the first collection, or the one that a new collection would get."""
        with self._connections.reading() as connection:
            first = next(iter(queries.collections(connection).values()), None)
        return self._embedders.name_for(first)

    def collections(self) -> dict[str, int]:
        """Return the names of the collections with their published generations."""
        with self._connections.reading() as connection:
            return {name: state.generation for name, state in queries.collections(connection).items()}

    def revisions(self) -> dict[str, int]:
        """Return the names of the collections with the numbers of their commits."""
        with self._connections.reading() as connection:
            return {name: state.revision for name, state in queries.collections(connection).items()}

    def collection(self, name: str) -> CollectionSummary:
        """Return what there is to know of a collection.

        Raises:
            CollectionNotFound: there is no such collection.
        """
        with self._connections.reading() as connection, snapshot(connection):
            state = _state(connection, name)
            return CollectionSummary(
                name=name,
                embedder=state.fingerprint.name,
                dimension=state.fingerprint.dimension,
                documents=queries.count_documents(connection, name),
                chunks=queries.count_live_chunks(connection, name),
                revision=state.revision,
                generation=state.generation,
                index=kind_of_index(self.folder, state) or None,
                min_score=state.min_score,
            )

    def search(
        self, collection: str, question: str, top_k: int = 5, options: SearchOptions | None = None
    ) -> SearchResult:
        """Return the passages for a question, best first.

        Args:
            collection: where to search.
            question: any text; what exceeds the embedder's limit is not read.
            top_k: how many passages are wanted; there are fewer where fewer qualify.
            options: how they are found, sifted and ordered; None takes the defaults.

        Raises:
            CollectionNotFound: there is no such collection.
            EmbedderMismatch: it was embedded with another model than the one that was chosen.
            SearchRefused: the options ask for what cannot be done.
            RerankerError: the cross-encoder cannot be used.
        """
        while True:
            try:
                return self._search(collection, question, top_k, options or SearchOptions())
            except CollectionRebuilt:
                # A vector of one model can't be compared with those of another: embed the question with the new one.
                continue

    def _search(self, collection: str, question: str, top_k: int, options: SearchOptions) -> SearchResult:
        with self._connections.reading() as connection:
            state = _state(connection, collection)
            threshold = options.threshold(state)
            rerank = self._rerankers.load(options.rerank).score if options.rerank else None
            asked = Asked(
                question,
                open_scope(connection, collection, options.filter, options.as_of),
                connection,
                state,
                embed=lambda text: self._embedders.load(state).embed_query(text),
                snapshot=lambda: self._snapshot(connection, state),
            )
            try:
                hits, reason = Pipeline(top_k, options, threshold, rerank).search(asked)
            finally:
                if _state(connection, collection).fingerprint != state.fingerprint:
                    # What was found was measured, or could not be, by the vectors of the other model.
                    raise CollectionRebuilt
        return SearchResult(hits, asked.generation, asked.revision, reason, threshold, asked.embed_seconds)

    def passages(self, ids: Sequence[int], collections: Iterable[str] | None = None) -> tuple[Hit, ...]:
        """Return the chunks of these ids in the order asked; of some collections, or of any.

        Raises:
            PassageNotFound: one of them never existed there, or its document was deleted or replaced.
        """
        with self._connections.reading() as connection:
            live: dict[int, PassageRow] = {}
            for collection in [None] if collections is None else collections:
                live |= queries.passages(connection, ids, collection)
        missing = [id_ for id_ in ids if id_ not in live]
        if missing:
            raise PassageNotFound(
                f"There is no passage {', '.join(map(str, missing))}: its document may have been deleted or replaced. "
                "Search again for current ids."
            )
        return tuple(hit(live[id_], GIVEN_SCORE) for id_ in ids)

    def stretches(
        self, spans: Sequence[tuple[int, int, int]], collections: Iterable[str] | None = None
    ) -> tuple[str | None, ...]:
        """Return stretches of stored texts, each named by the key of a version and its first and last + 1 character.

        None stands for one whose version is not stored any more, or belongs to none of the collections.
        """
        with self._connections.reading() as connection:
            texts = queries.texts_of(connection, {version for version, _, _ in spans}, collections)
        return tuple(texts[version][start:end] if version in texts else None for version, start, end in spans)

    def sample(self, collection: str, count: int, seed: int = 0) -> tuple[Hit, ...]:
        """Return up to `count` passages of a collection, drawn by chance, the same ones each time.

        Raises:
            CollectionNotFound: there is no such collection.
        """
        with self._connections.reading() as connection:
            _state(connection, collection)
            ids = Scope(collection).ids(connection)
            drawn = random.Random(seed).sample(ids, min(count, len(ids)))
            live = queries.passages(connection, drawn)
        return tuple(hit(live[id_], GIVEN_SCORE) for id_ in drawn if id_ in live)

    def documents(self, collection: str, after: str | None = None, limit: int = 100) -> tuple[DocumentRow, ...]:
        """Return up to `limit` documents in the order of ids, those behind the id `after`.

        Raises:
            CollectionNotFound: there is no such collection.
        """
        with self._connections.reading() as connection:
            _state(connection, collection)
            return queries.documents(connection, collection, after, limit)

    def count_documents(self, collection: str) -> int:
        """Return how many documents a collection holds.

        Raises:
            CollectionNotFound: there is no such collection.
        """
        with self._connections.reading() as connection:
            _state(connection, collection)
            return queries.count_documents(connection, collection)

    def versions(self, collection: str, document_id: str) -> tuple[VersionRow, ...]:
        """Return every version of a document, the newest first.

        Raises:
            CollectionNotFound: there is no such collection.
            DocumentNotFound: there is no such document in it.
        """
        with self._connections.reading() as connection:
            _state(connection, collection)
            found = queries.versions(connection, collection, document_id)
            if not found:
                raise document_not_found(connection, collection, document_id)
            return found

    def document(
        self, collection: str, document_id: str, version: int | None = None, as_of: date | None = None
    ) -> DocumentDetail:
        """Return a document with its text and chunks: its current version, the one of a key, or that of a day.

        Raises:
            CollectionNotFound: there is no such collection.
            DocumentNotFound: there is no such document in it.
        """
        with self._connections.reading() as connection:
            _state(connection, collection)
            if as_of is not None:
                version = queries.version_as_of(connection, collection, document_id, as_of) or NO_VERSION
            found = queries.document(connection, collection, document_id, version)
            if found is None:
                raise version_not_found(connection, collection, document_id)
            return found

    def _snapshot(self, connection: sqlite3.Connection, state: Collection) -> Snapshot:
        """Return the vectors of a collection as they are now, or as they were while another thread loads them."""
        known = self._snapshots.get(state.name)
        if known is not None and known.is_of(state):
            return known
        usable = known is not None and known.fingerprint == state.fingerprint
        if not self._loading.acquire(blocking=not usable):
            assert known is not None
            return known
        try:
            known = self._snapshots.get(state.name)
            if known is None or not known.is_of(state):
                known = load(self.folder, connection, state.name, known)
                self._snapshots[state.name] = known
            if known.fingerprint != state.fingerprint:
                raise CollectionRebuilt
            return known
        finally:
            self._loading.release()


def _state(connection: sqlite3.Connection, collection: str) -> Collection:
    state = queries.collection(connection, collection)
    if state is None:
        raise collection_not_found(connection, collection)
    return state
