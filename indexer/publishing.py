"""How the vectors of a collection are published: from the store to a generation on disk, and the pointer to it.

The pointer is a column of the store, moved by one transaction after the generation lies complete on disk. A process
killed in between leaves a generation that nothing points to; the next writer publishes again.

Not every commit publishes: a generation is written whole, and readers search what was committed since beside it. One
is due when that has become much, or when much of what is published is dead.
"""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

import numpy as np

from indexer import vectors
from indexer.errors import VectorsDamaged
from indexer.failpoints import failpoint
from indexer.memory import give_back_freed_memory
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.database import VECTORS, snapshot
from indexer.store.deleted import last_numbers
from indexer.store.live import LiveVectors
from indexer.store.records import Collection
from indexer.store.writer import StoreWriter, set_published

UNPUBLISHED_CHUNKS = 5000
"""So many chunks may wait: a reader takes them from the store in 30 ms at each commit, and searches them in 1 ms."""
UNPUBLISHED_SHARE = 0.1
"""Of a large collection, this share of the published may wait, so that it is not written anew all the time."""
UNPUBLISHED_MOST = 20_000
"""But no more than so many: they are searched exactly, in 2 ms."""
DEAD_SHARE = 0.2
"""A published index may hold this share of chunks that are no longer live; each search passes over them."""


def vectors_home(folder: Path, collection: str) -> Path:
    """Return where the generations of a collection lie."""
    return folder / VECTORS / collection


def publish(writer: StoreWriter, name: str, *, again: bool = False) -> Collection:
    """Publish the live vectors of a collection, unless nothing changed since it was published last.

    Args:
        writer: the writer of the store.
        name: the collection, which must exist.
        again: publish in any case, for an index that was found to be damaged.

    Returns:
        The collection as it is now, with the generation that is published.
    """
    with snapshot(writer.connection):
        state = _state(writer.connection, name)
        if state.published_revision == state.revision and state.generation and not again:
            return state
        failpoint("publish.begun")
        generation, index = write(writer, state, again=again)
    writer.point_to(name, generation, state.revision, index.count, index.last_id)
    del index
    give_back_freed_memory()
    published = _state(writer.connection, name)
    drop_unneeded(writer, published)
    return published


def publish_if_due(writer: StoreWriter, name: str) -> Collection:
    """Publish a collection where it is worth its time, and return it as it is now."""
    state = _state(writer.connection, name)
    if is_due(writer.connection, state):
        return publish(writer, name)
    drop_unneeded(writer, state)
    return state


def is_due(connection: Connection, state: Collection) -> bool:
    """Say whether a collection should be published: never yet, much that is new, or much that is dead."""
    if state.generation == 0:
        return True
    if state.published_revision == state.revision:
        return False
    new = queries.count_live_vectors(connection, state.name, state.published_last)
    if new > min(max(UNPUBLISHED_CHUNKS, UNPUBLISHED_SHARE * state.published_count), UNPUBLISHED_MOST):
        return True
    alive = queries.count_live_chunks(connection, state.name) - new
    return state.published_count - alive > DEAD_SHARE * state.published_count


def published_alive(connection: Connection, state: Collection) -> int:
    """Return how many of the vectors in the published index are those of live chunks."""
    waiting = queries.count_live_vectors(connection, state.name, state.published_last)
    return queries.count_live_vectors(connection, state.name) - waiting


def write(writer: StoreWriter, state: Collection, *, again: bool = True) -> tuple[int, vectors.VectorIndex]:
    """Write the live vectors of a collection as a new generation that nothing points to yet.

    They are indexed in the way that fits their number, and read twice for that: in one transaction. Where the published
    index has lists that still fit, and nobody asks for it to be made `again`, only what has changed is read.
    """
    home, dimension = vectors_home(writer.folder, state.name), state.fingerprint.dimension
    count = queries.count_live_vectors(writer.connection, state.name)
    exact_up_to = IndexerSettings().exact_vectors
    index = _grown(writer, state, count) if count > exact_up_to and not again else None
    if index is None:
        live = LiveVectors(writer.connection, state.name, dimension)
        index = vectors.build_from(live, count, dimension, exact_up_to)
    _, last = last_numbers(writer.connection, state.name)
    generation = vectors.next_generation(home, max(state.generation, last))
    vectors.write_generation(home, index, generation, state.revision)
    return generation, index


def write_and_point(writer: StoreWriter, state: Collection) -> None:
    """Write the live vectors of a collection and move its pointer to them, within a transaction of the caller."""
    generation, index = write(writer, state)
    set_published(
        writer.connection,
        state.name,
        generation=generation,
        revision=state.revision,
        count=index.count,
        last_id=index.last_id,
    )


def _grown(writer: StoreWriter, state: Collection, count: int) -> vectors.VectorIndex | None:
    """Return the published index with what has changed since, or None where its lists don't fit or can't be read."""
    home, dimension = vectors_home(writer.folder, state.name), state.fingerprint.dimension
    try:
        if not vectors.can_grow(vectors.read_manifest(home, state.generation).lists, count):
            return None
        index = vectors.read_generation(home, state.generation, dimension, whole=True, in_memory=True)
    except VectorsDamaged:
        return None
    live = np.array(queries.live_chunk_ids(writer.connection, state.name), dtype=np.int64)
    gone = np.setdiff1d(index.ids(), live)
    index = vectors.grow(index, gone, LiveVectors(writer.connection, state.name, dimension, index.last_id))
    return index if index.count == count else None


def kind_of_index(folder: Path, state: Collection) -> str:
    """Return the kind of the published index of a collection in words; nothing where none can be read."""
    try:
        return vectors.read_manifest(vectors_home(folder, state.name), state.generation).kind
    except VectorsDamaged:
        return ""


def drop_unneeded(writer: StoreWriter, state: Collection) -> None:
    """Remove the generations of a collection that no reader needs, and what a writer that was killed has left."""
    home = vectors_home(writer.folder, state.name)
    vectors.drop_unpublished(home, state.generation)
    vectors.drop_old_generations(home, state.generation)


def _state(connection: Connection, name: str) -> Collection:
    state = queries.collection(connection, name)
    assert state is not None, f"the collection {name!r} must exist"
    return state
