"""A collection made anew from its stored texts, without the files that they were read from.

New vectors are staged in the store, group by group, while the old ones go on being served; one transaction then puts
all of them in place, with the embedder's fingerprint and the published index. Killed at any moment, it is gone on with
by the same command.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corpus.errors import UsageError
from indexer.chunking import embedded_text
from indexer.embedding import Embedder
from indexer.embedding.embedders import Embedders
from indexer.errors import VectorRefused
from indexer.failpoints import failpoint
from indexer.ingesting.preparing import Pending, Preparer, recipe_of
from indexer.layout import parsed_again
from indexer.not_found import collection_not_found
from indexer.publishing import drop_unneeded, write_and_point
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.database import transaction
from indexer.store.records import Collection, NewChunk, Rebuild, StoredVersion
from indexer.store.staging import Staging
from indexer.store.writer import StoreWriter, open_writer

GROUP_CHUNKS = 512
GROUP_VERSIONS = 256
GROUP_CHARACTERS = 120_000
"""What is embedded between two commits: a kill costs as much."""


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild has done."""

    collection: str
    kind: Literal["cut", "embed"]
    embedder: str
    chunks: int
    """Chunks of the collection, those of superseded versions included."""
    resumed: bool
    """Whether it went on with one that had been interrupted."""
    generation: int
    revision: int
    seconds: float


def rebuild(
    folder: Path,
    collection: str,
    *,
    embed_only: bool = False,
    embedder: str | None = None,
    settings: IndexerSettings | None = None,
    advance: Callable[[int, int], object] | None = None,
) -> Rebuilt:
    """Embed a collection anew from its stored texts and publish it.

    Args:
        folder: the store.
        collection: what is rebuilt, superseded versions included.
        embed_only: keep the chunks and their ids; otherwise the texts are cut anew as well.
        embedder: the embedding model from now on; None keeps the collection's own.
        settings: how texts are cut and embedded; None reads the environment.
        advance: told (done, total) in chunks, or in versions where they are cut anew.

    Raises:
        CollectionNotFound: there is no such collection.
        UsageError: a stored chunk is longer than the embedder reads, and only `embed_only` was asked for.
        VectorRefused: the embedder gave a vector that is no direction; what was served is served on.
        StoreLocked: another process writes to the store.
    """
    started = time.monotonic()
    settings = settings or IndexerSettings()
    with open_writer(folder, settings.lock_wait_seconds) as writer:
        state = queries.collection(writer.connection, collection)
        if state is None:
            raise collection_not_found(writer.connection, collection)
        model = Embedders(embedder or state.fingerprint.name, settings).load(None)
        kind: Literal["cut", "embed"] = "embed" if embed_only else "cut"
        asked = Rebuild(kind, model.fingerprint(), recipe_of(settings))
        run = _Run(writer, collection, model, asked, advance or _ignore)
        resumed = run.staging.begin(asked)
        run.embed() if embed_only else run.cut(settings)
        state = run.swap()
        chunks = queries.count_chunks(writer.connection, collection)
    seconds = round(time.monotonic() - started, 3)
    return Rebuilt(collection, kind, model.name, chunks, resumed, state.generation, state.revision, seconds)


class _Run:
    """One rebuild of one collection."""

    def __init__(
        self, writer: StoreWriter, name: str, model: Embedder, asked: Rebuild, advance: Callable[[int, int], object]
    ) -> None:
        self.writer = writer
        self.name = name
        self.model = model
        self.asked = asked
        self.advance = advance
        self.staging = Staging(writer, name)

    def embed(self) -> None:
        """Stage new vectors of the stored chunks."""
        connection = self.writer.connection
        total = queries.count_chunks(connection, self.name)
        done = queries.count_staged(connection, self.name, "embed")
        last = queries.last_staged(connection, self.name, "embed")
        while chunks := queries.chunk_texts_after(connection, self.name, last, GROUP_CHUNKS):
            texts = [embedded_text(chunk.context, chunk.text) for chunk in chunks]
            self._refuse_too_long(texts)
            rows = self.model.embed_passages(texts)
            self.staging.put_vectors({chunk.id: row.tobytes() for chunk, row in zip(chunks, rows, strict=True)})
            done, last = done + len(chunks), chunks[-1].id
            self.advance(done, total)

    def _refuse_too_long(self, texts: list[str]) -> None:
        longest = max(len(spans) for spans in self.model.token_spans(texts))
        if longest > self.model.passage_tokens:
            raise UsageError(
                f"A stored chunk has {longest} tokens of {self.model.name!r}, which reads {self.model.passage_tokens}: "
                f"its end would never be found. Cut the texts anew with `openbook rebuild --collection {self.name} "
                f"--embedder {self.model.name}`."
            )

    def cut(self, settings: IndexerSettings) -> None:
        """Stage new chunks of the stored texts."""
        connection = self.writer.connection
        # No vector is known: what is there may be what the rebuild is to mend.
        preparer = Preparer(self.model, settings, self.asked.recipe, _nothing_known)
        total = queries.count_versions(connection, self.name)
        done = queries.count_staged(connection, self.name, "cut")
        last = queries.last_staged(connection, self.name, "cut")
        while group := queries.versions_after(connection, self.name, last, GROUP_VERSIONS, GROUP_CHARACTERS):
            self.staging.put_chunks(_cut(group, preparer))
            done, last = done + len(group), group[-1].key
            self.advance(done, total)

    def swap(self) -> Collection:
        """Put what is staged in place and publish it, in one transaction."""
        failpoint("rebuild.before_swap")
        connection = self.writer.connection
        with transaction(connection, self.writer.folder):
            self.staging.take_effect(self.asked)
            changed = self._state()
            # Written before the commit, so that no reader ever meets an index of other vectors than the store's.
            write_and_point(self.writer, changed)
            failpoint("rebuild.before_commit")
        failpoint("rebuild.committed")
        swapped = self._state()
        drop_unneeded(self.writer, swapped)
        return swapped

    def _state(self) -> Collection:
        state = queries.collection(self.writer.connection, self.name)
        assert state is not None
        return state


def _cut(group: Sequence[StoredVersion], preparer: Preparer) -> dict[int, tuple[NewChunk, ...]]:
    """Return the new chunks of versions, by their keys."""
    pending = [
        Pending(parsed_again(version.document, version.source_hash, version.layout), version.source)
        for version in group
    ]
    cut: dict[int, tuple[NewChunk, ...]] = {}
    for stored, version in zip(group, preparer.prepare(pending, _ignore), strict=True):
        if isinstance(version, VectorRefused):
            raise version
        cut[stored.key] = version.chunks
    return cut


def _nothing_known(_: Iterable[bytes]) -> dict[bytes, bytes]:
    return {}


def _ignore(*_: object) -> None:
    """Tell nobody."""
