"""Which embedding model a collection uses, loaded once and checked against what the collection was embedded with."""

from __future__ import annotations

import threading
from pathlib import Path

from indexer.embedding import Embedder
from indexer.errors import EmbedderMismatch
from indexer.settings import IndexerSettings
from indexer.store.records import Collection


class Embedders:
    """Embedding models by name, each loaded when it is first needed. Threads may share it."""

    def __init__(self, chosen: str | None, settings: IndexerSettings) -> None:
        """Take the model that the user named; None leaves each collection its own."""
        self._chosen = _absolute(chosen) if chosen else None
        self._settings = settings
        self._loaded: dict[str, Embedder] = {}
        self._checked: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def name_for(self, collection: Collection | None) -> str:
        """Return the name of the model for a collection, or for a new one, without loading it."""
        if self._chosen:
            return self._chosen
        return collection.fingerprint.name if collection else _absolute(self._settings.embedder)

    def load(self, collection: Collection | None) -> Embedder:
        """Return the model for a collection, or for a new one.

        Raises:
            EmbedderError: it cannot be loaded.
            EmbedderMismatch: the collection was embedded with another one.
        """
        name = self.name_for(collection)
        with self._lock:
            if name not in self._loaded:
                loaded = Embedder.load(
                    name,
                    self._settings.embedder_threads,
                    self._settings.embedder_dtype,
                    self._settings.processes_that_embed(),
                )
                loaded.keep_question_vectors(self._settings.question_vectors)
                self._loaded[name] = loaded
            embedder = self._loaded[name]
            if collection is not None and (name, collection.name) not in self._checked:
                _check(embedder, collection)
                self._checked.add((name, collection.name))
        return embedder


def _check(embedder: Embedder, collection: Collection) -> None:
    difference = collection.fingerprint.difference(embedder.fingerprint())
    if difference:
        raise EmbedderMismatch(
            f"The collection {collection.name!r} was embedded with {collection.fingerprint.name!r}, and "
            f"{embedder.name!r} is another model ({difference}): their vectors cannot be compared. Use "
            f"`--embedder {collection.fingerprint.name}`, or embed the stored texts anew with "
            f"`openbook rebuild --embed-only --collection {collection.name} --embedder {embedder.name}`."
        )


def _absolute(name: str) -> str:
    """Return a local folder as an absolute path, so that the name holds from any working folder."""
    path = Path(name).expanduser()
    return str(path.absolute()) if path.is_dir() else name
