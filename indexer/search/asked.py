"""A question, and what it is asked of. What a retriever does not need is neither embedded nor loaded."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from indexer.embedding.fingerprint import Vectors
from indexer.search.scope import Scope
from indexer.store import queries
from indexer.store.records import Collection

if TYPE_CHECKING:
    from indexer.snapshot import Snapshot

Ranking = tuple[tuple[int, float], ...]
"""Pairs of chunk id and score, best first; equal scores in the order of ids."""


class Asked:
    """One search. Belongs to one thread."""

    def __init__(
        self,
        question: str,
        scope: Scope,
        connection: sqlite3.Connection,
        state: Collection,
        *,
        embed: Callable[[str], Vectors],
        snapshot: Callable[[], Snapshot],
    ) -> None:
        """Take the question, where it is asked, and how its vector and those of the collection are got."""
        self.question = question
        self.scope = scope
        self.connection = connection
        self.generation = state.generation
        """The published generation that is searched."""
        self.revision = state.revision
        """The revision of the collection that is searched."""
        self._dimension = state.fingerprint.dimension
        self._embed = embed
        self._load = snapshot
        # No functools.cached_property: up to Python 3.11 it has one lock for all searches of all threads.
        self._vector: Vectors | None = None
        self.embed_seconds = 0.0
        """How long the vector of the question took, waiting for the model included."""
        self._snapshot: Snapshot | None = None
        self._ids: list[int] | None = None

    @property
    def vector(self) -> Vectors:
        """The unit vector of the question, shape (dimension,)."""
        if self._vector is None:
            started = time.perf_counter()
            self._vector = self._embed(self.question)
            self.embed_seconds = time.perf_counter() - started
        return self._vector

    @property
    def snapshot(self) -> Snapshot:
        """The vectors of the collection."""
        if self._snapshot is None:
            self._snapshot = self._load()
            self.generation, self.revision = self._snapshot.generation, self._snapshot.revision
        return self._snapshot

    def vectors_of(self, ids: Iterable[int]) -> tuple[npt.NDArray[np.int64], Vectors]:
        """Return stored vectors, by id: shapes (n,) and (n, dimension). Ids that are gone are left out."""
        return queries.vectors_of(self.connection, ids, self._dimension)

    @property
    def ids(self) -> list[int]:
        """The chunks in the scope, by id."""
        if self._ids is None:
            self._ids = self.scope.ids(self.connection)
        return self._ids
