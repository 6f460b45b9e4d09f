"""A store as a process meets it that opens it and searches: run in a process of its own."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexer.benchmarks.filled_store import COLLECTION
from indexer.embedding.embedders import Embedders
from indexer.embedding.fingerprint import Vectors
from indexer.index import Index
from indexer.settings import IndexerSettings
from indexer.store.database import Connections
from indexer.vectors import VectorIndex

TOP_K = 10


@dataclass(frozen=True)
class Opened:
    """What was measured."""

    open_seconds: float
    """From nothing to the first result, the files not in memory; imports and the embedding model not counted."""
    cold_ms: tuple[float, ...]
    """Each question the first time, while the files come into memory."""
    warm_ms: tuple[float, ...]
    """Each question again."""
    found: npt.NDArray[np.int64]
    """Ids of the passages found, shape (questions, TOP_K), -1 where there are fewer."""
    own_mib: float
    """Memory that the process took for itself by opening and searching."""
    mapped_mib: float
    """Pages of files that it had mapped at the end; the system takes them back when it needs them."""


class GivenVectors(Embedders):
    """In place of an embedding model: the question `7` has the vector of row 7."""

    def __init__(self, vectors: Vectors) -> None:
        """Take a vector for each question, shape (questions, dimension)."""
        super().__init__(None, IndexerSettings())
        self._vectors = vectors

    def load(self, _: Any) -> Any:
        """Return what embeds questions."""
        return self

    def embed_query(self, question: str) -> Vectors:
        """Return the vector of the question of that number."""
        vector: Vectors = self._vectors[int(question)]
        return vector


def open_and_search(folder: Path, questions: Vectors) -> Opened:
    """Open the store in `folder` with its files not in memory, and ask every question twice."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            _forget(path)
    own = _memory("RssAnon")
    started = time.perf_counter()
    index = Index(folder, Connections(folder), GivenVectors(questions))
    _search(index, 0)
    open_seconds = time.perf_counter() - started
    found = np.full((len(questions), TOP_K), -1, dtype=np.int64)
    cold: list[float] = []
    warm: list[float] = []
    for times in (cold, warm):
        for number in range(len(questions)):
            started = time.perf_counter()
            ids = _search(index, number)
            times.append((time.perf_counter() - started) * 1000)
            found[number, : len(ids)] = ids
    return Opened(open_seconds, tuple(cold), tuple(warm), found, _memory("RssAnon") - own, _memory("RssFile"))


def time_exact(index: VectorIndex, questions: Vectors) -> list[float]:
    """Return how many milliseconds an exact index takes for each question."""
    times = []
    for question in questions:
        started = time.perf_counter()
        index.search(question, TOP_K)
        times.append((time.perf_counter() - started) * 1000)
    return times


def _search(index: Index, number: int) -> list[int]:
    return [hit.chunk_id for hit in index.search(COLLECTION, str(number), TOP_K).hits]


def _forget(path: Path) -> None:
    """Let the system drop what it holds of a file, which must be on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _memory(what: str) -> float:
    """Return a figure of /proc/self/status in MiB."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) / 1024
    return 0.0
