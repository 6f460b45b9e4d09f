"""Changed documents into the store: embedded in groups, committed in one transaction each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from indexer.embedding.embedders import Embedders
from indexer.errors import VectorRefused
from indexer.ingesting.duplicates import NearDuplicate, NearDuplicates, signature
from indexer.ingesting.judging import Change, Removal
from indexer.ingesting.outcomes import Outcome
from indexer.ingesting.preparing import Preparer
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.records import NewVersion
from indexer.store.writer import StoreWriter

Versions = Mapping[str, NewVersion | VectorRefused]
"""By document id."""


class Committer:
    """Commits groups of documents; the first group loads the embedder and makes the collection where there is none."""

    def __init__(
        self, writer: StoreWriter, collection: str, embedders: Embedders, settings: IndexerSettings, recipe: str
    ) -> None:
        self._writer = writer
        self._collection = collection
        self._embedders = embedders
        self._settings = settings
        self._recipe = recipe
        self._preparer: Preparer | None = None
        self._near = NearDuplicates(writer.connection, collection)

    @property
    def embedded(self) -> int:
        """How many chunks had to be embedded so far."""
        return self._preparer.embedded if self._preparer else 0

    def commit(self, group: Sequence[Change | Removal], advance: Callable[[float], object]) -> list[Outcome]:
        """Bring a group into the store and return what became of each document in it."""
        changes = [change for change in group if isinstance(change, Change)]
        prepared = self._prepared().prepare(changes, advance) if changes else []
        versions = {
            change.parsed.document.id: _signed(version) for change, version in zip(changes, prepared, strict=True)
        }
        near = self._near_duplicates(changes, versions)
        self._write(group, versions)
        return [
            change.outcome
            if isinstance(change, Removal)
            else _outcome(change, versions[change.parsed.document.id], near.get(change.parsed.document.id))
            for change in group
        ]

    def _near_duplicates(self, changes: Sequence[Change], versions: Versions) -> dict[str, NearDuplicate | None]:
        signed = [
            (version.document.id, version.signature) for version in versions.values() if isinstance(version, NewVersion)
        ]
        found = self._near.find(signed, [id_ for change in changes for id_ in change.removes])
        return dict(zip((id_ for id_, _ in signed), found, strict=True))

    def _write(self, group: Sequence[Change | Removal], versions: Versions) -> None:
        good = [version for version in versions.values() if isinstance(version, NewVersion)]
        removed: list[str] = []
        replaced: list[str] = []
        for change in group:
            if isinstance(change, Removal):
                removed.append(change.outcome.id or "")
            elif isinstance(versions[change.parsed.document.id], NewVersion):
                removed.extend(change.removes)
                replaced.extend([change.replaced_source] if change.replaced_source else [])
        if good or removed:
            self._writer.put(self._collection, good, removed)
        if replaced:
            self._writer.drop_file_stamps(self._collection, replaced)

    def _prepared(self) -> Preparer:
        if self._preparer is None:
            state = queries.collection(self._writer.connection, self._collection)
            embedder = self._embedders.load(state)
            if state is None:
                self._writer.add_collection(self._collection, embedder.fingerprint())
            self._preparer = Preparer(
                embedder,
                self._settings,
                self._recipe,
                lambda hashes: queries.known_vectors(self._writer.connection, self._collection, hashes),
            )
        return self._preparer


def _signed(version: NewVersion | VectorRefused) -> NewVersion | VectorRefused:
    if isinstance(version, VectorRefused):
        return version
    return replace(version, signature=signature(version.document.text))


def _outcome(change: Change, version: NewVersion | VectorRefused, near: NearDuplicate | None) -> Outcome:
    id_ = change.parsed.document.id
    if isinstance(version, VectorRefused):
        return Outcome(change.source, "failed", id_, str(version))
    return Outcome(
        change.source,
        change.status,
        id_,
        change.reason,
        chunks=len(version.chunks),
        tokens=sum(chunk.tokens for chunk in version.chunks),
        near_duplicate_of=near.id if near else None,
        similarity=near.similarity if near else None,
        notes=change.parsed.notes,
    )
