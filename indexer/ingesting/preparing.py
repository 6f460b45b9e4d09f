"""Documents cut into chunks and embedded: all that is done between reading them and committing them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from indexer.chunking import Chunk, Cutting, chunk_documents, embedded_text
from indexer.embedding import Embedder, Reading
from indexer.errors import VectorRefused
from indexer.layout import layout_json
from indexer.parsing.source import Parsed
from indexer.settings import IndexerSettings
from indexer.store.records import NewChunk, NewVersion

RECIPE_VERSION = 2
"""Raised when parsers or chunking give other chunks for the same bytes, so that a rerun brings stores up to date."""
EMBEDDED_AT_ONCE = 512
"""Chunks that a process embeds between two signs of progress."""


@dataclass(frozen=True)
class Pending:
    """A document that is to be committed."""

    parsed: Parsed
    source: str


class Preparer:
    """Cuts and embeds groups of documents. A chunk whose text has a vector already keeps it."""

    def __init__(
        self,
        embedder: Embedder,
        settings: IndexerSettings,
        recipe: str,
        known_vectors: Callable[[Iterable[bytes]], dict[bytes, bytes]],
    ) -> None:
        """Cut as the settings say, no longer than the embedder reads, and ask `known_vectors` by text hash."""
        self.embedder = embedder
        self.cutting = Cutting(min(settings.chunk_tokens, embedder.passage_tokens), settings.chunk_overlap)
        self.recipe = recipe
        self.known_vectors = known_vectors
        self.at_once = EMBEDDED_AT_ONCE * settings.processes_that_embed()
        self.embedded = 0
        """How many texts had to be embedded so far."""

    def prepare(self, group: Sequence[Pending], advance: Callable[[float], object]) -> list[NewVersion | VectorRefused]:
        """Return each document ready to be stored, or why it cannot be.

        Args:
            group: the documents.
            advance: told the share of the group that is embedded, from 0 to 1.
        """
        cut = chunk_documents([pending.parsed for pending in group], self.embedder, self.cutting)
        by_hash = {
            text_hash(_embedded(pending, chunk)): chunk.reading
            for pending, chunks in zip(group, cut, strict=True)
            for chunk in chunks
        }
        vectors, refused = self._vectors(by_hash, advance)
        return [self._version(pending, chunks, vectors, refused) for pending, chunks in zip(group, cut, strict=True)]

    def _vectors(
        self, readings: dict[bytes, Reading], advance: Callable[[float], object]
    ) -> tuple[dict[bytes, bytes], dict[bytes, VectorRefused]]:
        """Return the vectors of chunks by the hash of what is embedded, and for the others why they have none."""
        vectors = self.known_vectors(readings)
        refused: dict[bytes, VectorRefused] = {}
        new = [hash_ for hash_ in readings if hash_ not in vectors]
        for start in range(0, len(new), self.at_once):
            some = new[start : start + self.at_once]
            while some:
                try:
                    rows = self.embedder.embed([readings[hash_] for hash_ in some])
                except VectorRefused as error:
                    refused |= {some[position]: error for position in error.positions}
                    some = [hash_ for hash_ in some if hash_ not in refused]
                else:
                    vectors |= {hash_: row.tobytes() for hash_, row in zip(some, rows, strict=True)}
                    self.embedded += len(some)
                    break
            advance(min(1.0, (start + self.at_once) / len(new)))
        return vectors, refused

    def _version(
        self,
        pending: Pending,
        chunks: Sequence[Chunk[Reading]],
        vectors: dict[bytes, bytes],
        refused: dict[bytes, VectorRefused],
    ) -> NewVersion | VectorRefused:
        text = pending.parsed.document.text
        new: list[NewChunk] = []
        for chunk in chunks:
            hash_ = text_hash(_embedded(pending, chunk))
            if hash_ in refused:
                return refused[hash_]
            new.append(
                NewChunk(
                    chunk.start,
                    chunk.end,
                    chunk.tokens,
                    text[chunk.start : chunk.end],
                    hash_,
                    vectors[hash_],
                    context=chunk.context,
                    heading_path=chunk.heading_path,
                    page=chunk.page,
                )
            )
        return NewVersion(
            pending.parsed.document,
            pending.source,
            pending.parsed.source_hash,
            self.recipe,
            tuple(new),
            layout=layout_json(pending.parsed),
        )


def recipe_of(settings: IndexerSettings) -> str:
    """Return what marks a stored version as cut the way that the settings ask for."""
    return f"{RECIPE_VERSION}/{settings.chunk_tokens}/{settings.chunk_overlap}"


def _embedded(pending: Pending, chunk: Chunk[Reading]) -> str:
    return embedded_text(chunk.context, pending.parsed.document.text[chunk.start : chunk.end])


def text_hash(text: str) -> bytes:
    """Return the SHA-256 of what is embedded of a chunk, under which its vector is found again."""
    return hashlib.sha256(text.encode("utf-8")).digest()
