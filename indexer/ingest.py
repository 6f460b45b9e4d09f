"""Documents into the store: walk, parse, cut, embed, commit, publish.

Documents are taken in groups: the chunks of a group are embedded together, sorted by length, and the group is
committed in one transaction. Whatever ends the process, what was committed stays, and running it again does the rest:
a document whose bytes are known is passed over, and a chunk whose text is known keeps its vector.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import UsageError
from indexer.embedders import Embedders
from indexer.errors import VectorRefused
from indexer.outcomes import Outcome, Status, Summary, Tally
from indexer.parsing import PARSERS
from indexer.parsing.reading import parse_file
from indexer.parsing.source import Parsed, SourceFile, Unreadable
from indexer.preparing import Pending, Preparer, recipe_of
from indexer.publishing import publish_if_due
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.records import Collection
from indexer.store.writer import StoreWriter, check_collection_name, open_writer
from indexer.walking import SkippedFile, walk

GROUP_DOCUMENTS = 256
GROUP_CHARACTERS = 120_000
"""A group is closed at either: some 250 chunks, which two cores embed in about five seconds."""


def _ignore(_: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Watcher:
    """Who is told how an ingest goes."""

    start: Callable[[int], object] = _ignore
    """Called once with the bytes that are to be read."""
    advance: Callable[[int], object] = _ignore
    """Called with the bytes that are done since the last call."""
    report: Callable[[Outcome], object] = _ignore
    """Called with every outcome, once it is true of the store."""


@dataclass(frozen=True)
class _Change(Pending):
    """A document that is new or has changed."""

    status: Status
    reason: str | None


def ingest(
    folder: Path,
    paths: Sequence[Path],
    collection: str,
    *,
    embedder: str | None = None,
    settings: IndexerSettings | None = None,
    watcher: Watcher | None = None,
) -> Summary:
    """Bring the documents under `paths` into a collection of the store in `folder`.

    Args:
        folder: the store, made where there is none.
        paths: files and folders.
        collection: the collection, made where there is none.
        embedder: the embedding model; None takes the collection's own, or the one of the settings for a new one.
        settings: how documents are cut and embedded; None reads the environment.
        watcher: who is told how it goes.

    Raises:
        UsageError: a path does not exist, or nothing under the paths can be read.
        StoreLocked: another process writes to the store.
        EmbedderMismatch: the collection was embedded with another model.
    """
    started = time.monotonic()
    check_collection_name(collection)
    settings = settings or IndexerSettings()
    files, skipped = _files(paths)
    with open_writer(folder, settings.lock_wait_seconds) as writer:
        run = _Run(writer, collection, Embedders(embedder, settings), settings, watcher or Watcher())
        for outcome in skipped:
            run.tell(outcome)
        try:
            run.take(files)
        except BaseException:
            # What was committed is published even so; where this fails too, the next writer does it.
            with contextlib.suppress(Exception):
                run.publish()
            raise
        state = run.publish()
        generation, revision = (state.generation, state.revision) if state else (0, 0)
        return run.tally.summary(collection, generation, revision, time.monotonic() - started)


class _Run:
    """One ingest into one collection."""

    def __init__(
        self, writer: StoreWriter, collection: str, embedders: Embedders, settings: IndexerSettings, watcher: Watcher
    ) -> None:
        self.writer = writer
        self.collection = collection
        self.embedders = embedders
        self.settings = settings
        self.watcher = watcher
        self.tally = Tally()
        self.recipe = recipe_of(settings)
        self._preparer: Preparer | None = None
        self._paths: dict[str, str] = {}
        self._refuse_another_embedder()

    def take(self, files: Sequence[SourceFile]) -> None:
        """Read the files and commit what is new in them, group by group."""
        self.watcher.start(sum(_size(file.path) for file in files))
        group: list[_Change] = []
        for file in files:
            read = 0
            for parsed in parse_file(file):
                read += parsed.size
                judged = self._judge(file, parsed)
                if isinstance(judged, Outcome):
                    self.tell(judged)
                    self.watcher.advance(parsed.size)
                else:
                    group.append(judged)
                    if _is_full(group):
                        self._commit(group)
                        group = []
            self.watcher.advance(max(0, _size(file.path) - read))
        if group:
            self._commit(group)

    def publish(self) -> Collection | None:
        """Publish the collection where that is due, and return it as it is now; None where there is none."""
        return publish_if_due(self.writer, self.collection) if self._state() else None

    def tell(self, outcome: Outcome) -> None:
        """Count and report an outcome."""
        self.tally.add(outcome)
        self.watcher.report(outcome)

    def _judge(self, file: SourceFile, parsed: Parsed | Unreadable) -> Outcome | _Change:
        """Say what is to be done with something that was read."""
        path = file.path.as_posix()
        if isinstance(parsed, Unreadable):
            return Outcome(path, "failed", reason=parsed.reason, line=parsed.line)
        id_ = parsed.document.id
        if not parsed.document.text.strip():
            return Outcome(path, "skipped", id_, "no text")
        if self._paths.setdefault(id_, path) != path:
            return Outcome(path, "failed", id_, f"the id {id_!r} is taken by {self._paths[id_]}")
        stamp = queries.version_stamp(self.writer.connection, self.collection, id_)
        if stamp is None:
            return _Change(parsed, path, "added", None)
        if (stamp.source_hash, stamp.recipe) == (parsed.source_hash, self.recipe):
            return Outcome(path, "unchanged", id_)
        moved = None if stamp.source == path else f"replaces the document from {stamp.source}"
        return _Change(parsed, path, "updated", moved)

    def _commit(self, group: Sequence[_Change]) -> None:
        """Cut, embed and commit a group, and report what became of it."""
        size, told = sum(change.parsed.size for change in group), 0

        def advance(share: float) -> None:
            nonlocal told
            self.watcher.advance(round(size * share) - told)
            told = round(size * share)

        preparer = self._prepared()
        before = preparer.embedded
        prepared = preparer.prepare(group, advance)
        versions = [version for version in prepared if not isinstance(version, VectorRefused)]
        if versions:
            self.writer.put(self.collection, versions)
        self.tally.embedded += preparer.embedded - before
        for change, version in zip(group, prepared, strict=True):
            id_ = change.parsed.document.id
            if isinstance(version, VectorRefused):
                self.tell(Outcome(change.source, "failed", id_, str(version)))
            else:
                tokens = sum(chunk.tokens for chunk in version.chunks)
                self.tell(
                    Outcome(change.source, change.status, id_, change.reason, chunks=len(version.chunks), tokens=tokens)
                )
        advance(1.0)

    def _prepared(self) -> Preparer:
        """Return the preparer; the first call loads the embedder and makes the collection where there is none."""
        if self._preparer is None:
            state = self._state()
            embedder = self.embedders.load(state)
            if state is None:
                self.writer.add_collection(self.collection, embedder.fingerprint())
            self._preparer = Preparer(
                embedder,
                self.settings.chunk_tokens,
                self.recipe,
                lambda hashes: queries.known_vectors(self.writer.connection, self.collection, hashes),
            )
        return self._preparer

    def _refuse_another_embedder(self) -> None:
        """Find out before any work where another model was named; the same name is checked once it is needed."""
        state = self._state()
        if state is not None and self.embedders.name_for(state) != state.fingerprint.name:
            self.embedders.load(state)

    def _state(self) -> Collection | None:
        return queries.collection(self.writer.connection, self.collection)


def _files(paths: Sequence[Path]) -> tuple[list[SourceFile], list[Outcome]]:
    """Return the files to read, each once, and the outcomes of those that are passed over.

    Raises:
        UsageError: a path does not exist, or there is nothing to read under any.
    """
    files: dict[Path, SourceFile] = {}
    skipped: list[Outcome] = []
    for found in (found for path in paths for found in walk(path)):
        if isinstance(found, SkippedFile):
            skipped.append(Outcome(found.path.as_posix(), "skipped", reason=found.reason))
        else:
            files.setdefault(found.path.resolve(), found)
    if not files:
        where = ", ".join(repr(str(path)) for path in paths)
        seen = f"; {len(skipped)} passed over, the first: {skipped[0]}" if skipped else ""
        raise UsageError(f"No documents in {where}{seen}. Files that are read: {', '.join(PARSERS)}.")
    return list(files.values()), skipped


def _is_full(group: Sequence[_Change]) -> bool:
    characters = sum(len(change.parsed.document.text) for change in group)
    return len(group) >= GROUP_DOCUMENTS or characters >= GROUP_CHARACTERS


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
