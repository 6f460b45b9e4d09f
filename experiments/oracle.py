"""The oracle: for a question, the one passage that holds its answer, as no retriever could know it."""

from __future__ import annotations

from functools import lru_cache

from app.schemas.document import ChunkView
from corpus.schema import Question
from experiments.client import Client
from experiments.metrics.contains_answer import contains
from experiments.metrics.normalisation import tokens


class Oracle:
    """Finds evidence passages in one collection of a server."""

    def __init__(self, client: Client, collection: str) -> None:
        """Take the server and the collection whose chunks are the passages."""
        self._chunks = lru_cache(maxsize=None)(lambda document: client.document(collection, document).chunks)

    def passage(self, question: Question) -> int | None:
        """Return the id of the best evidence chunk; None where the question names no evidence.

        Among the chunks of the question's documents, one that holds an accepted answer beats one that does not; then
        the one that shares the most words with the question wins, and the first of equals.
        """
        chunks = [chunk for document in question.document_ids for chunk in self._chunks(document)]
        return max(chunks, key=lambda chunk: _fitness(chunk, question)).id if chunks else None


def _fitness(chunk: ChunkView, question: Question) -> tuple[bool, int]:
    words = tokens(chunk.text)
    holds_answer = any(contains(words, tokens(answer)) for answer in question.answers)
    return holds_answer, len(set(words) & set(tokens(question.question)))
