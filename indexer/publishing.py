"""How the vectors of a collection are published: from the store to a generation on disk, and the pointer to it.

The pointer is a column of the store, moved by one transaction after the generation lies complete on disk. A process
killed in between leaves a generation that nothing points to; the next writer publishes again.
"""

from __future__ import annotations

from pathlib import Path

from indexer import vectors
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.database import VECTORS, snapshot
from indexer.store.live import LiveVectors
from indexer.store.records import Collection
from indexer.store.writer import StoreWriter


def vectors_home(folder: Path, collection: str) -> Path:
    """Return where the generations of a collection lie."""
    return folder / VECTORS / collection


def publish(writer: StoreWriter, name: str, *, again: bool = False) -> int:
    """Publish the live vectors of a collection, unless nothing changed since it was published last.

    Args:
        writer: the writer of the store.
        name: the collection, which must exist.
        again: publish in any case, for an index that was found to be damaged.

    Returns:
        The generation that is published now.
    """
    with snapshot(writer.connection):
        state = queries.collection(writer.connection, name)
        assert state is not None
        if state.published_revision == state.revision and state.generation and not again:
            return state.generation
        index = _build(writer, state)
    home = vectors_home(writer.folder, name)
    generation = vectors.next_generation(home, state.generation)
    vectors.write_generation(home, index, generation, state.revision)
    writer.point_to(name, generation, state.revision)
    vectors.drop_old_generations(home, generation)
    return generation


def _build(writer: StoreWriter, state: Collection) -> vectors.VectorIndex:
    """Index the live vectors of a collection, in the way that fits their number."""
    dimension = state.fingerprint.dimension
    live = LiveVectors(writer.connection, state.name, dimension)
    count = queries.count_live_vectors(writer.connection, state.name)
    return vectors.build_from(live, count, dimension, IndexerSettings().exact_vectors)
