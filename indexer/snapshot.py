"""The vectors of a collection at one revision: the published index and what was committed since.

A long ingest commits many times and publishes once. What it has committed is taken from the store and searched beside
the published index, so that a document is found from the moment of its commit, and so that nothing is missing where a
writer was killed before it could publish, or where the published index is damaged and cannot be made again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import OpenbookError
from indexer.embedding.fingerprint import Fingerprint, Vectors
from indexer.errors import CollectionNotFound, VectorsDamaged
from indexer.publishing import publish, vectors_home
from indexer.store import queries
from indexer.store.database import snapshot
from indexer.store.live import LiveVectors
from indexer.store.queries.of_vectors import Ids
from indexer.store.records import Collection
from indexer.store.writer import open_writer
from indexer.vectors import VectorIndex, build_exact, quarantine, read_generation
from terminal import note

MOST_PARTS = 8
"""Parts of recent chunks before they are read into one again."""


@dataclass(frozen=True)
class Snapshot:
    """Immutable, so that any number of threads may search it while the next one is loaded."""

    generation: int
    """The published generation; 0 before the first."""
    revision: int
    published: VectorIndex | None
    """None where none is published, or where it is damaged and cannot be made again now."""
    recent: tuple[VectorIndex, ...]
    """The live chunks that `published` does not know, one part for each time that new ones were found."""
    fingerprint: Fingerprint
    """The embedding model of all of them. A rebuild may change it."""

    def is_of(self, state: Collection) -> bool:
        """Whether nothing has changed since it was loaded."""
        return (self.generation, self.revision) == (state.generation, state.revision)

    @property
    def count(self) -> int:
        """How many vectors it holds, those of deleted chunks included."""
        return sum(part.count for part in self._parts)

    @property
    def last_id(self) -> int:
        """The greatest id it knows, 0 where it knows none."""
        return max((part.last_id for part in self._parts), default=0)

    @property
    def _parts(self) -> tuple[VectorIndex, ...]:
        return self.recent if self.published is None else (self.published, *self.recent)

    def search(
        self, connection: sqlite3.Connection, query: Vectors, top_k: int, among: Sequence[int] | None = None
    ) -> tuple[tuple[int, float], ...]:
        """Return up to `top_k` pairs of chunk id and cosine, best first; fewer only where there are no more.

        Args:
            connection: the store, whose vectors measure what an index that isn't exact has found.
            query: one vector of unit length, shape (dimension,).
            top_k: how many are wanted.
            among: search these ids alone; None searches all.
        """

        def stored(ids: Sequence[int]) -> tuple[Ids, Vectors]:
            return queries.vectors_of(connection, ids, len(query))

        pairs = [pair for part in self._parts for pair in part.search(query, top_k, among, stored)]
        return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))[:top_k]


class CollectionRebuilt(Exception):
    """A rebuild has changed the embedding model of a collection during a search, which is to be done again."""


def load(folder: Path, connection: sqlite3.Connection, name: str, known: Snapshot | None) -> Snapshot:
    """Load the present state of a collection, which must exist; keep what `known` has loaded of it.

    A published index that fails its checks is set aside and made again from the store.
    """
    if known is not None and known.fingerprint != _state(connection, name).fingerprint:
        # Embedded anew, or deleted and made again with another model.
        known = None
    published, generation = _published(folder, connection, name, known)
    with snapshot(connection):
        state = _state(connection, name)
        kept: tuple[VectorIndex, ...] = ()
        if known is not None and known.published is published and len(known.recent) < MOST_PARTS:
            kept = known.recent
        after = max((part.last_id for part in (published, *kept) if part is not None), default=0)
        dimension = state.fingerprint.dimension
        new = build_exact(LiveVectors(connection, name, dimension, after), dimension)
    return Snapshot(generation, state.revision, published, (*kept, new) if new.count else kept, state.fingerprint)


def _published(
    folder: Path, connection: sqlite3.Connection, name: str, known: Snapshot | None
) -> tuple[VectorIndex | None, int]:
    """Return the published index, if there is one that can be read, and its generation."""
    home = vectors_home(folder, name)
    while True:
        state = _state(connection, name)
        generation = state.generation
        if known is not None and known.generation == generation:
            return known.published, generation
        if generation == 0:
            return None, 0
        try:
            index = read_generation(home, generation, state.fingerprint.dimension)
            _check_count(connection, name, index, generation)
            return index, generation
        except VectorsDamaged as error:
            # Gone because a newer one was published in the meantime: take that.
            if _state(connection, name).generation == generation:
                note(f"{error} It is made again from the store.")
                return _repaired(folder, name, generation)


def _check_count(connection: sqlite3.Connection, name: str, index: VectorIndex, generation: int) -> None:
    """Raise `VectorsDamaged` where the index should hold exactly the live chunks and does not."""
    with snapshot(connection):
        state = _state(connection, name)
        live = queries.count_live_chunks(connection, name)
    if (state.generation, state.published_revision) == (generation, state.revision) and live != index.count:
        raise VectorsDamaged(
            f"Generation {generation} of the collection {name!r} holds {index.count} vectors for {live} chunks."
        )


def _repaired(folder: Path, name: str, generation: int) -> tuple[VectorIndex | None, int]:
    """Publish again, or return no index where another process is writing or the disk takes nothing."""
    home = vectors_home(folder, name)
    try:
        with open_writer(folder, wait_seconds=0) as writer:
            quarantine(home, generation)
            published = publish(writer, name, again=True).generation
            dimension = _state(writer.connection, name).fingerprint.dimension
        return read_generation(home, published, dimension), published
    except (OpenbookError, OSError) as error:
        note(f"It cannot be written now ({error}); the store itself is searched until it can.")
        return None, generation


def _state(connection: sqlite3.Connection, name: str) -> Collection:
    state = queries.collection(connection, name)
    if state is None:
        raise CollectionNotFound(f"There is no collection {name!r} any more.")
    return state
