"""Documents into the store: walk, parse, cut, embed, commit, publish.

Documents are taken in groups: the chunks of a group are embedded together, sorted by length, and the group is
committed in one transaction, while other processes read the files that come next. Whatever ends the process, what was
committed stays, and running it again does the rest: a file that has not changed is not read, a document whose bytes
are known is passed over, and a chunk whose text is known keeps its vector.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from sqlite3 import Connection

from indexer.embedding.embedders import Embedders
from indexer.ingesting.changed import ChangedFiles
from indexer.ingesting.committing import Committer
from indexer.ingesting.following import OpenFile, Watcher
from indexer.ingesting.judging import Change, Judge, Removal
from indexer.ingesting.ledger import Ledger
from indexer.ingesting.missing import Missing, find_missing
from indexer.ingesting.options import IngestOptions
from indexer.ingesting.outcomes import KEPT, Outcome, Status, Summary
from indexer.ingesting.preparing import recipe_of
from indexer.ingesting.reading import read
from indexer.ingesting.stamping import Stamps
from indexer.parsing.source import Parsed, Unreadable
from indexer.publishing import kind_of_index, publish, publish_if_due
from indexer.settings import IndexerSettings
from indexer.sources.sources import Sources
from indexer.store import queries
from indexer.store.database import DATABASE, connect
from indexer.store.records import Collection
from indexer.store.writer import StoreWriter, check_collection_name, open_writer

GROUP_DOCUMENTS = 256
GROUP_CHARACTERS = 120_000
"""A group is closed at either: some 250 chunks, which two cores embed in about five seconds."""
PUBLISH_CHUNKS = 20_000
"""Chunks after which a long ingest publishes, where that is due: readers search what waits exactly, in memory."""


def ingest(
    folder: Path,
    paths: Sequence[Path | str] | Sources,
    collection: str,
    *,
    embedder: str | Embedders | None = None,
    settings: IndexerSettings | None = None,
    options: IngestOptions | None = None,
    watcher: Watcher | None = None,
) -> Summary:
    """Bring the documents under `paths` into a collection of the store in `folder`.

    Args:
        folder: the store, made where there is none.
        paths: files, folders and globs, or any sources.
        collection: the collection, made where there is none.
        embedder: the embedding model; None takes the collection's own, or the one of the settings for a new one.
        settings: how documents are cut and embedded; None reads the environment.
        options: how to go about it.
        watcher: who is told how it goes.

    Raises:
        UsageError: a path does not exist, nothing under the paths can be read, or so much is missing that it looks
            like a mistake.
        StoreLocked: another process writes to the store.
        EmbedderMismatch: the collection was embedded with another model.
    """
    started = time.monotonic()
    check_collection_name(collection)
    settings, options = settings or IndexerSettings(), options or IngestOptions()
    sources = paths if isinstance(paths, Sources) else Sources(paths)
    if not options.delete_missing:
        sources.check()
    embedders = embedder if isinstance(embedder, Embedders) else Embedders(embedder, settings)
    with ExitStack() as stack:
        run = _Run(
            _opened(folder, settings, options, stack),
            collection,
            sources=sources,
            embedders=embedders,
            settings=settings,
            options=options,
            watcher=watcher or Watcher(),
        )
        try:
            before = run.missing()
            run.take()
            if before is not None and not run.stopping and (now := run.missing()):
                run.delete(now.since(before))
        except BaseException:
            # What was committed is published even so; where this fails too, the next writer does it.
            with contextlib.suppress(Exception):
                run.publish()
            raise
        state = run.publish(now=options.publish)
        seconds = time.monotonic() - started
        summary = run.ledger.tally.summary(collection, state, seconds, stopped=run.stopping, dry_run=options.dry_run)
        return summary.with_index(kind_of_index(folder, state)) if state else summary


class _Run:
    """One ingest into one collection."""

    def __init__(
        self,
        opened: tuple[StoreWriter | None, Connection | None],
        collection: str,
        *,
        sources: Sources,
        embedders: Embedders,
        settings: IndexerSettings,
        options: IngestOptions,
        watcher: Watcher,
    ) -> None:
        self.writer, self.connection = opened
        self.collection, self.sources, self.settings, self.options = collection, sources, settings, options
        self.watcher = watcher
        recipe = "/".join(filter(None, (recipe_of(settings), options.provenance.hash())))
        self.judge = Judge(self.connection, collection, recipe, sources, strict=options.strict)
        self.stamps = Stamps(self.connection, collection, recipe)
        self.ledger = Ledger(self.stamps, watcher)
        self.committer = Committer(self.writer, collection, embedders, settings, recipe) if self.writer else None
        self.changed = ChangedFiles(self.stamps, self.judge, self.ledger, options)
        self._refuse_another_embedder(embedders)
        self._processes = settings.processes_that_embed()
        self._read: list[tuple[OpenFile, Parsed]] = []
        self._read_characters = 0
        self._group: list[tuple[OpenFile, Change | Removal]] = []
        self._group_characters = 0
        self._announced = False
        self._chunks_before = 0

    @property
    def stopping(self) -> bool:
        """Whether as many failures were met as are allowed."""
        return self.options.max_errors is not None and self.ledger.tally.failed >= self.options.max_errors

    def missing(self) -> Missing | None:
        """Return the documents whose files are gone; None where nobody asked."""
        if not self.options.delete_missing or self.connection is None:
            return None
        return find_missing(self.connection, self.collection, self.sources, self.ledger.ids_read)

    def take(self) -> None:
        """Read the files and commit what is new in them, group by group."""
        with closing(read(self.changed.among(self.sources), self.settings)) as files:
            for found, contents in files:
                self._take_file(OpenFile(found, keep_ids=self.options.delete_missing), contents)
                if self.stopping:
                    break
        self._judge_read()
        self._commit()
        self._announce()
        self._write_stamps()

    def delete(self, missing: Missing) -> None:
        """Delete documents whose files are gone."""
        if not self.options.force:
            missing.check(new=self.ledger.tally.added)
        if self.writer is not None:
            if missing.outcomes:
                self.writer.delete(self.collection, [outcome.id or "" for outcome in missing.outcomes])
            if missing.gone:
                self.writer.drop_file_stamps(self.collection, missing.gone)
        for outcome in missing.outcomes:
            self.ledger.tell_alone(outcome)

    def publish(self, *, now: bool = False) -> Collection | None:
        """Publish the collection where that is due, or `now`; return it as it is then, or None where there is none."""
        state = self.connection and queries.collection(self.connection, self.collection)
        if not state or self.writer is None:
            return state or None
        return publish(self.writer, self.collection) if now else publish_if_due(self.writer, self.collection)

    def _take_file(self, file: OpenFile, contents: Iterator[Parsed | Unreadable]) -> None:
        for parsed in file.timed(contents):
            file.bytes_read += parsed.size
            if isinstance(parsed, Parsed):
                self._add(file, self.options.provenance.given_to(parsed))
                continue
            status: Status = "skipped" if parsed.empty and not self.options.strict else "failed"
            kept = KEPT if parsed.line is None and self.stamps.has_documents(file.path) else ""
            self.ledger.settle(file, Outcome(file.path, status, None, parsed.reason + kept, parsed.line), parsed.size)
            if self.stopping:
                break
        file.finished = True
        self.ledger.close(file)

    def _add(self, file: OpenFile, parsed: Parsed) -> None:
        file.began(parsed)
        self._read.append((file, parsed))
        self._read_characters += len(parsed.document.text)
        if self._is_full(len(self._read), self._read_characters):
            self._judge_read()

    def _judge_read(self) -> None:
        """Judge what was read; commit the group where it is full."""
        reads, self._read, self._read_characters = self._read, [], 0
        judged = self.judge.judge([(file.path, parsed) for file, parsed in reads])
        for (file, parsed), one in zip(reads, judged, strict=True):
            if isinstance(one, Outcome) or self.writer is None:
                outcome = one if isinstance(one, Outcome) else one.expected()
                file.pending -= 1
                self.ledger.settle(file, outcome, parsed.size)
                self.ledger.close(file)
            else:
                self._group.append((file, one))
                self._group_characters += len(parsed.document.text)
        if self._is_full(len(self._group), self._group_characters):
            self._commit()

    def _is_full(self, documents: int, characters: int) -> bool:
        """Say whether a group keeps every process that embeds busy for a while."""
        return documents >= GROUP_DOCUMENTS * self._processes or characters >= GROUP_CHARACTERS * self._processes

    def _commit(self) -> None:
        """Cut, embed and commit a group, and report what became of it."""
        group, self._group, self._group_characters = self._group, [], 0
        if not group or self.committer is None:
            return
        self._announce()
        started = time.monotonic()
        advance = self.watcher.sharing(sum(change.size for _, change in group))
        before = self.committer.embedded
        outcomes = self.committer.commit([change for _, change in group], advance)
        self.judge.committed()
        self.ledger.tally.embedded += self.committer.embedded - before
        seconds = (time.monotonic() - started) / len(group)
        for (file, _), outcome in zip(group, outcomes, strict=True):
            file.pending -= 1
            file.seconds += seconds
            self.ledger.settle(file, outcome, 0)
        advance(1.0)
        for file in dict.fromkeys(file for file, _ in group):
            self.ledger.close(file)
        self._write_stamps()
        if self.ledger.tally.chunks - self._chunks_before >= PUBLISH_CHUNKS:
            self._chunks_before = self.ledger.tally.chunks
            self.publish()

    def _announce(self) -> None:
        """Say once how many bytes are to be read in all; the files that were not reached yet are looked at for it."""
        if self._announced:
            return
        self._announced = True
        self.watcher.start(self.changed.size(self.sources))

    def _write_stamps(self) -> None:
        stamps = self.ledger.take_stamps()
        if stamps and self.writer is not None and queries.collection(self.writer.connection, self.collection):
            self.writer.put_file_stamps(self.collection, stamps)

    def _refuse_another_embedder(self, embedders: Embedders) -> None:
        """Find out before any work where another model was named; the same name is checked once it is needed."""
        state = self.connection and queries.collection(self.connection, self.collection)
        if state and embedders.name_for(state) != state.fingerprint.name:
            embedders.load(state)


def _opened(
    folder: Path, settings: IndexerSettings, options: IngestOptions, stack: ExitStack
) -> tuple[StoreWriter | None, Connection | None]:
    if not options.dry_run:
        writer = stack.enter_context(open_writer(folder, settings.lock_wait_seconds))
        return writer, writer.connection
    if not (folder / DATABASE).exists():
        return None, None
    return None, stack.enter_context(closing(connect(folder, read_only=True)))
