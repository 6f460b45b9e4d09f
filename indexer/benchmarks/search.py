"""What `openbook bench search` measures: one question at a time, from ten thousand chunks to a million.

The stores are real ones, filled through the writer with drawn vectors (see `indexer.benchmarks.mixture`), and the path
measured is that of a question from `Index.search` to passages with their text; only the embedding of the question is
left out, for it costs the same at every size. The baseline is exact search of the same vectors.
"""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from indexer.benchmarks.comparing import Likeness, likeness
from indexer.benchmarks.embedded import Embedded, embed_world
from indexer.benchmarks.filled_store import COLLECTION, fill
from indexer.benchmarks.opened import Opened, open_and_search, time_exact
from indexer.embedding.fingerprint import Vectors
from indexer.publishing import vectors_home
from indexer.store import queries
from indexer.store.database import Connections
from indexer.store.live import LiveVectors
from indexer.vectors import build_exact, read_manifest
from indexer.vectors.probing import Neighbours

SEED = 5
QUESTIONS = 200
EXACT_QUESTIONS = 20


@dataclass(frozen=True)
class Measured:
    """One size."""

    chunks: int
    index: str
    recall_at_10: float
    """Against exact search of the same vectors."""
    open_seconds: float
    p50_ms: float
    p95_ms: float
    cold_p50_ms: float
    cold_p95_ms: float
    exact_p50_ms: float
    own_mib: float
    mapped_mib: float
    index_mib: float
    database_mib: float
    fill_seconds: float
    build_seconds: float


@dataclass(frozen=True)
class Result:
    """Every size, and whether the vectors were like real ones."""

    fit: int
    """Passages that were embedded."""
    sizes: tuple[Measured, ...]
    likeness: Likeness


def measure(sizes: Sequence[int], fit: int, parent: Path | None) -> Result:
    """Measure stores of these numbers of chunks, made for a time in the folder `parent`."""
    embedded = embed_world(fit)
    like = likeness(embedded, np.random.default_rng(SEED))
    return Result(fit, tuple(_measure(size, embedded, parent) for size in sizes), like)


def _measure(chunks: int, embedded: Embedded, parent: Path | None) -> Measured:
    random = np.random.default_rng([SEED, chunks])
    folder = Path(tempfile.mkdtemp(prefix="openbook-bench-", dir=parent))
    try:
        filled = fill(folder, embedded, chunks, random)
        questions = embedded.mixture.draw_questions(_some_passages(folder, chunks, random), random)
        # A process of its own, so that memory and opening are those of a reader.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            opened = pool.submit(open_and_search, folder, questions).result()
        neighbours, exact_ms = _exact(folder, questions)
        manifest = read_manifest(vectors_home(folder, COLLECTION), 1)
        return Measured(
            chunks=chunks,
            index=manifest.kind,
            recall_at_10=neighbours.recall(opened.found),
            open_seconds=opened.open_seconds,
            **_latencies(opened),
            exact_p50_ms=float(np.median(exact_ms)),
            own_mib=opened.own_mib,
            mapped_mib=opened.mapped_mib,
            index_mib=manifest.bytes / 2**20,
            database_mib=(folder / "store.db").stat().st_size / 2**20,
            **asdict(filled),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _some_passages(folder: Path, chunks: int, random: np.random.Generator) -> Vectors:
    """Return the vectors of passages from all over the store."""
    connections = Connections(folder)
    with connections.reading() as connection:
        dimension = queries.collections(connection)[COLLECTION].fingerprint.dimension
        ids = random.choice(chunks, QUESTIONS, replace=False) + 1
        vectors = queries.vectors_of(connection, ids.tolist(), dimension)[1]
    connections.close()
    return vectors


def _latencies(opened: Opened) -> dict[str, float]:
    warm, cold = np.percentile(opened.warm_ms, [50, 95]), np.percentile(opened.cold_ms, [50, 95])
    return {
        "p50_ms": float(warm[0]),
        "p95_ms": float(warm[1]),
        "cold_p50_ms": float(cold[0]),
        "cold_p95_ms": float(cold[1]),
    }


def _exact(folder: Path, questions: Vectors) -> tuple[Neighbours, list[float]]:
    """Return the true neighbours of the questions, and how long exact search takes for some of them."""
    connections = Connections(folder)
    with connections.reading() as connection:
        state = queries.collections(connection)[COLLECTION]
        live = LiveVectors(connection, COLLECTION, state.fingerprint.dimension)
        # No id of a chunk is negative: a question is no passage.
        neighbours = Neighbours(np.full(len(questions), -1, dtype=np.int64), questions)
        for ids, vectors in live:
            neighbours.look_at(ids, vectors)
        index = build_exact(live, state.fingerprint.dimension)
    connections.close()
    return neighbours, time_exact(index, questions[:EXACT_QUESTIONS])
