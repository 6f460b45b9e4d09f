"""Passages and questions of the invented world, embedded by the packaged model: what drawn vectors are fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from corpus.world.generate import SEED, iter_documents, iter_questions
from indexer.benchmarks.mixture import Mixture
from indexer.embedding import Embedder
from indexer.embedding.fingerprint import Fingerprint, Vectors
from indexer.settings import PACKAGED_EMBEDDER
from terminal import Progress

QUESTIONS = 400
BLOCK = 256


@dataclass(frozen=True)
class Embedded:
    """Real vectors, and what is fitted to them."""

    passages: Vectors
    questions: Vectors
    words: tuple[str, ...]
    """The words of the passages in their order, for texts of drawn passages."""
    fingerprint: Fingerprint
    mixture: Mixture


def embed_world(documents: int) -> Embedded:
    """Embed that many documents of a world, and questions that they answer."""
    written = list(iter_documents(SEED, documents))
    position = {document.id: number for number, document in enumerate(written)}
    # Even over the world: questions come in the order of its districts.
    every = max(1, 24 * documents // 14 // QUESTIONS)
    asked = list(islice(iter_questions(SEED, documents), 0, None, every))[:QUESTIONS]
    answers = np.array([position[question.document_ids[0]] for question in asked], dtype=np.int64)
    embedder = Embedder.load(PACKAGED_EMBEDDER)
    passages = np.empty((documents, embedder.dimension), dtype=np.float32)
    with Progress("Embedding passages to fit to", documents, "passages") as progress:
        for start in range(0, documents, BLOCK):
            texts = [document.text for document in written[start : start + BLOCK]]
            passages[start : start + BLOCK] = embedder.embed_passages(texts)
            progress.advance(len(texts))
    questions = np.stack([embedder.embed_query(question.question) for question in asked])
    words = tuple(word for document in written[:1000] for word in document.text.split())
    mixture = Mixture.fit(passages, questions, answers)
    return Embedded(passages, questions, words, embedder.fingerprint(), mixture)
