"""A store filled with drawn passages, through the writer that ingest uses."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corpus.schema import Document
from indexer.benchmarks.embedded import Embedded
from indexer.embedding.fingerprint import Vectors
from indexer.publishing import publish
from indexer.store.records import NewChunk, NewVersion
from indexer.store.writer import open_writer
from terminal import Progress

COLLECTION = "bench"
CHUNKS = 20
"""Chunks of a document."""
WORDS = 60
"""Words of a chunk."""
DOCUMENTS = 100
"""Documents of one transaction."""


@dataclass(frozen=True)
class Filled:
    """How long it took, in seconds."""

    fill_seconds: float
    build_seconds: float
    """Reading the vectors from the store, building the index, writing and publishing it."""


def fill(folder: Path, embedded: Embedded, chunks: int, random: np.random.Generator) -> Filled:
    """Fill the store in `folder`, which has none yet, with `chunks` drawn passages, and publish it."""
    started = time.perf_counter()
    with open_writer(folder, 0) as writer, Progress("Filling the store", chunks, "chunks") as progress:
        # What is measured comes later, so that a crash in between costs nothing but the run.
        writer.connection.execute("PRAGMA synchronous = OFF")
        writer.add_collection(COLLECTION, embedded.fingerprint)
        number = 0
        for vectors in _blocks(embedded, chunks, random):
            writer.put(COLLECTION, _versions(vectors, number, embedded.words, random))
            number += len(vectors)
            progress.advance(len(vectors))
        filled = time.perf_counter()
        publish(writer, COLLECTION)
        writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Filled(filled - started, time.perf_counter() - filled)


def _blocks(embedded: Embedded, chunks: int, random: np.random.Generator) -> Iterator[Vectors]:
    size = CHUNKS * DOCUMENTS
    for start in range(0, chunks, size):
        yield embedded.mixture.draw(min(size, chunks - start), random)


def _versions(
    vectors: Vectors, number: int, words: tuple[str, ...], random: np.random.Generator
) -> Iterator[NewVersion]:
    """Yield documents whose chunks have these vectors and texts of words that follow each other somewhere."""
    for start in range(0, len(vectors), CHUNKS):
        rows = vectors[start : start + CHUNKS]
        starts = random.integers(0, len(words) - WORDS, len(rows))
        texts = [" ".join(words[at : at + WORDS]) for at in starts]
        document = Document(id=f"document-{number + start}", text="\n".join(texts))
        chunks, at = [], 0
        for text, vector in zip(texts, rows, strict=True):
            digest = hashlib.sha256(text.encode()).digest()
            chunks.append(NewChunk(at, at + len(text), WORDS, text, digest, vector.tobytes()))
            at += len(text) + 1
        yield NewVersion(document, document.id, document.content_hash, "bench", tuple(chunks))
