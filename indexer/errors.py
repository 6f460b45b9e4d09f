"""What can go wrong in the indexer.

OpenbookError
├── StoreError
│   ├── StoreLocked           exit code 3   another process is writing
│   ├── StoreDamaged          exit code 4   the database cannot be read
│   ├── BackupDamaged         exit code 4   a backup is not what it says it is
│   └── StoreUnreachable      exit code 2   the folder cannot be made or written
├── EmbedderError             exit code 2   the embedding model cannot be loaded
│   └── EmbedderMismatch                    it is not the one that the collection was embedded with
├── RerankerError             exit code 2   the cross-encoder cannot be loaded or cannot be used
├── VectorRefused             exit code 1   the embedding model returned a vector that is no direction
├── VectorsDamaged            exit code 4   a published index fails its checks (recovered from the database)
├── SearchRefused             exit code 2   a search asks for what cannot be done
│   ├── FilterRefused                       a filter that is malformed, or names what is not there
│   └── NotCalibrated                       the threshold of the collection was never calibrated
└── NotFound                  exit code 2
    ├── CollectionNotFound
    ├── DocumentNotFound
    └── PassageNotFound
"""

from __future__ import annotations

from corpus.errors import OpenbookError


class StoreError(OpenbookError):
    """The store cannot be used."""


class StoreLocked(StoreError):
    """Another process writes to the store."""

    exit_code = 3


class StoreDamaged(StoreError):
    """The database of the store cannot be read."""

    exit_code = 4


class BackupDamaged(StoreError):
    """A backup is not what its description says, or of another format."""

    exit_code = 4


class StoreUnreachable(StoreError):
    """The folder of the store cannot be made or written."""

    exit_code = 2


class EmbedderError(OpenbookError):
    """The embedding model cannot be loaded or cannot be used."""

    exit_code = 2


class EmbedderMismatch(EmbedderError):
    """The embedding model is not the one that the collection was embedded with."""


class VectorRefused(OpenbookError):
    """The embedding model returned vectors that are not finite or have no length.

    `positions` says which of the texts they belong to.
    """

    def __init__(self, message: str, positions: tuple[int, ...]) -> None:
        super().__init__(message)
        self.positions = positions


class VectorsDamaged(OpenbookError):
    """A published vector index fails its checks. It is derived, so it is rebuilt from the database."""

    exit_code = 4


class NotFound(OpenbookError):
    """Something asked for by name or id is not in the store."""

    exit_code = 2


class CollectionNotFound(NotFound):
    """The store holds no collection of that name."""


class DocumentNotFound(NotFound):
    """The collection holds no document of that id."""


class PassageNotFound(NotFound):
    """No current chunk has that id: it never existed, or its document was deleted or replaced."""


class RerankerError(OpenbookError):
    """The cross-encoder cannot be loaded or cannot be used."""

    exit_code = 2


class SearchRefused(OpenbookError):
    """A search asks for what cannot be done."""

    exit_code = 2


class FilterRefused(SearchRefused):
    """A filter is malformed, or names a field or an operator that there is not."""


class NotCalibrated(SearchRefused):
    """The calibrated threshold of a collection is asked for, and there is none."""
