"""What is read of vectors, which lie in the store as float32 blobs of unit length."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from indexer.embedding.fingerprint import Vectors
from indexer.store.queries.binding import batches, marks

Ids = npt.NDArray[np.int64]


class AnotherDimension(ValueError):
    """Vectors in the store have another dimension than was asked for: the collection has been embedded anew since."""


BLOCK = 16_384
"""Vectors read at once: 25 MB of 384 dimensions."""

# CROSS JOIN keeps this order, so that only chunks above an id are looked at.
LIVE = """
    FROM chunks c CROSS JOIN documents d ON d.version = c.version CROSS JOIN embeddings e ON e.chunk = c.id
    WHERE c.id > ? AND d.collection = ?
"""


def count_live_vectors(connection: sqlite3.Connection, collection: str, after: int = 0) -> int:
    """Return how many live chunks above the id `after` have a vector."""
    (count,) = connection.execute(f"SELECT count(*) {LIVE}", (after, collection)).fetchone()
    return int(count)


def live_vector_blocks(
    connection: sqlite3.Connection, collection: str, dimension: int, after: int = 0, block: int = BLOCK
) -> Iterator[tuple[Ids, Vectors]]:
    """Yield ids and vectors of the live chunks above the id `after`, by id, in blocks of at most `block`.

    A block's shapes are (n,) and (n, dimension); no more than one is in memory at once.
    """
    rows = connection.execute(f"SELECT c.id, e.vector {LIVE} ORDER BY c.id", (after, collection))
    while some := rows.fetchmany(block):
        yield _arrays(some, dimension)


def vectors_of(connection: sqlite3.Connection, ids: Iterable[int], dimension: int) -> tuple[Ids, Vectors]:
    """Return the vectors of these chunks, live or not, by id: shapes (n,) and (n, dimension).

    Ids without a vector of that dimension are left out.
    """
    rows: list[Sequence[object]] = []
    for some in batches(sorted(set(ids))):
        rows += connection.execute(
            f"SELECT chunk, vector FROM embeddings WHERE chunk IN ({marks(some)}) AND length(vector) = ?",
            (*some, 4 * dimension),
        )
    return _arrays(sorted(rows, key=lambda row: row[0]), dimension)  # type: ignore[arg-type, return-value]


def known_vectors(connection: sqlite3.Connection, collection: str, text_hashes: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return the stored vectors of those texts that this collection has embedded before."""
    found: dict[bytes, bytes] = {}
    for some in batches(list(set(text_hashes))):
        # A bare column beside min() is that of the row with the least: one vector for each text. CROSS JOIN begins
        # with these texts, not with every document.
        rows = connection.execute(
            "SELECT c.text_hash, min(c.id), e.vector FROM chunks c CROSS JOIN embeddings e ON e.chunk = c.id"
            " CROSS JOIN versions v ON v.key = c.version CROSS JOIN documents d ON d.key = v.document"
            f" WHERE c.text_hash IN ({marks(some)}) AND d.collection = ? GROUP BY c.text_hash",
            (*some, collection),
        )
        found.update((row[0], row[2]) for row in rows)
    return found


def _arrays(rows: Sequence[Sequence[object]], dimension: int) -> tuple[Ids, Vectors]:
    if any(len(row[1]) != 4 * dimension for row in rows):  # type: ignore[arg-type]
        raise AnotherDimension(f"A stored vector has not {dimension} dimensions.")
    ids = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
    vectors = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float32)  # type: ignore[misc]
    return ids, vectors.reshape(len(rows), dimension)
