"""The vectors of a collection as an index is built from them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from indexer.embedding.fingerprint import Vectors
from indexer.store import queries
from indexer.store.queries.of_vectors import Ids

BLOCK = 4096
"""Vectors in a block: 6 MiB of 384 numbers each."""


class LiveVectors:
    """The vectors of the live chunks of a collection, in the order of their ids.

    Every iteration reads them anew: blocks of ids, shape (n,), and of vectors, shape (n, dimension).
    """

    def __init__(self, connection: sqlite3.Connection, collection: str, dimension: int, after: int = 0) -> None:
        """Take those above the id `after`."""
        self._what = (connection, collection, dimension, after)

    def __iter__(self) -> Iterator[tuple[Ids, Vectors]]:
        """Yield block after block."""
        yield from queries.live_vector_blocks(*self._what, block=BLOCK)
