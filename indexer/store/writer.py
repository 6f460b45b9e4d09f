"""The one writer of a store."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection

from corpus.errors import UsageError
from indexer.embedding.fingerprint import Fingerprint
from indexer.failpoints import failpoint
from indexer.search.terms import search_terms
from indexer.store.database import connect, transaction
from indexer.store.deleted import last_numbers, remember
from indexer.store.lock import writer_lock
from indexer.store.records import Collection, FileStamp, NewChunk, NewVersion

COLLECTION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_collection_name(name: str) -> None:
    """Raise `UsageError` where a collection cannot have that name; a folder of the store gets it."""
    if not COLLECTION_NAME.fullmatch(name):
        raise UsageError(
            f"A collection cannot be named {name!r}: up to 64 letters, digits, '.', '_' and '-', the first of them a "
            "letter or a digit."
        )


class StoreWriter:
    """Changes the store, one short transaction for each call. Made by `open_writer`, which holds the lock."""

    def __init__(self, folder: Path, connection: Connection) -> None:
        """Write through a connection whose process holds the lock."""
        self.folder = folder
        self.connection = connection

    def add_collection(self, name: str, fingerprint: Fingerprint) -> None:
        """Make an empty collection that is embedded with the given model."""
        with transaction(self.connection, self.folder):
            revision, _ = last_numbers(self.connection, name)
            self.connection.execute(
                "INSERT INTO collections (name, fingerprint, revision) VALUES (?, ?, ?)",
                (name, fingerprint.to_json(), revision),
            )
            failpoint("collection.before_commit")

    def delete_collection(self, state: Collection) -> None:
        """Remove a collection with everything in it, and remember where it had got to."""
        with transaction(self.connection, self.folder):
            remember(self.connection, state.name, state.revision, state.generation)
            self.connection.execute("DELETE FROM collections WHERE name = ?", (state.name,))

    def put(self, collection: str, versions: Iterable[NewVersion], removed: Sequence[str] = ()) -> None:
        """Make each version the current one of its document, and remove documents; all becomes visible at once."""
        indexed = datetime.now(UTC).isoformat(timespec="seconds")
        with transaction(self.connection, self.folder):
            failpoint("put.begun")
            for version in versions:
                self._put(collection, version, indexed)
            self._delete(collection, removed)
            count_revision(self.connection, collection)
            failpoint("put.before_commit")
        failpoint("put.committed")

    def delete(self, collection: str, document_ids: Sequence[str]) -> None:
        """Remove documents with all their versions, chunks and embeddings; ids that are unknown change nothing.

        The stamps of their files go with them, so that an ingest that meets such a file again reads it.
        """
        with transaction(self.connection, self.folder):
            self._delete(collection, document_ids)
            count_revision(self.connection, collection)
            failpoint("delete.before_commit")
        failpoint("delete.committed")

    def put_file_stamps(self, collection: str, stamps: Iterable[FileStamp]) -> None:
        """Remember what files were when they were taken in, in place of what was known of them."""
        rows = [
            (collection, stamp.source, stamp.size, stamp.mtime_ns, stamp.source_hash, stamp.recipe, stamp.outcome)
            for stamp in stamps
        ]
        with transaction(self.connection, self.folder):
            self.connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            failpoint("files.before_commit")

    def drop_file_stamps(self, collection: str, sources: Iterable[str]) -> None:
        """Forget the stamps of files that are gone."""
        with transaction(self.connection, self.folder):
            self.connection.executemany(
                "DELETE FROM files WHERE collection = ? AND source = ?", [(collection, source) for source in sources]
            )

    def set_min_score(self, collection: str, min_score: float | None) -> None:
        """Set the calibrated threshold of a collection, or forget it, as whoever embeds it anew must."""
        with transaction(self.connection, self.folder):
            self.connection.execute("UPDATE collections SET min_score = ? WHERE name = ?", (min_score, collection))

    def point_to(self, collection: str, generation: int, revision: int, count: int, last_id: int) -> None:
        """Make `generation` the one that readers load.

        Args:
            collection: whose it is.
            generation: its number.
            revision: the revision that it was built from.
            count: how many vectors it holds.
            last_id: the greatest chunk id in it.
        """
        with transaction(self.connection, self.folder):
            set_published(
                self.connection, collection, generation=generation, revision=revision, count=count, last_id=last_id
            )
            failpoint("point_to.before_commit")
        failpoint("point_to.committed")

    def _delete(self, collection: str, document_ids: Sequence[str]) -> None:
        of_these = [(collection, id_) for id_ in document_ids]
        self.connection.executemany(
            "DELETE FROM files WHERE (collection, source) IN (SELECT d.collection, v.source FROM documents d"
            " JOIN versions v ON v.document = d.key WHERE d.collection = ? AND d.id = ?)",
            of_these,
        )
        self.connection.executemany("DELETE FROM documents WHERE collection = ? AND id = ?", of_these)

    def _put(self, collection: str, version: NewVersion, indexed: str) -> None:
        execute = self.connection.execute
        document = version.document
        (key,) = execute(
            "INSERT INTO documents (collection, id) VALUES (?, ?)"
            " ON CONFLICT (collection, id) DO UPDATE SET id = excluded.id RETURNING key",
            (collection, document.id),
        ).fetchone()
        version_key = execute(
            "INSERT INTO versions (document, text, content_hash, title, effective, authority, supersedes, metadata,"
            " source, source_hash, recipe, indexed, signature, layout)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                key,
                document.text,
                document.content_hash,
                document.title,
                document.effective.isoformat() if document.effective else None,
                document.authority,
                document.supersedes,
                json.dumps(document.metadata, ensure_ascii=False),
                version.source,
                version.source_hash,
                version.recipe,
                indexed,
                version.signature,
                version.layout,
            ),
        ).lastrowid
        for chunk in version.chunks:
            put_chunk(self.connection, version_key, document.title, chunk)
        failpoint("put.half")
        execute(
            "UPDATE versions SET ended = ? WHERE key = (SELECT version FROM documents WHERE key = ?)", (indexed, key)
        )
        execute("UPDATE documents SET version = ? WHERE key = ?", (version_key, key))


def put_chunk(connection: Connection, version: int | None, title: str, chunk: NewChunk) -> None:
    """Insert a chunk of a version with its vector and its terms, within a transaction of the caller."""
    chunk_id = connection.execute(
        'INSERT INTO chunks (version, start, "end", tokens, text, context, heading_path, page, text_hash)'
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            version,
            chunk.start,
            chunk.end,
            chunk.tokens,
            chunk.text,
            chunk.context,
            json.dumps(chunk.heading_path, ensure_ascii=False),
            chunk.page,
            chunk.text_hash,
        ),
    ).lastrowid
    terms = chunk_terms(title, chunk.heading_path, chunk.context, chunk.text)
    connection.execute("INSERT INTO lexical (rowid, terms) VALUES (?, ?)", (chunk_id, terms))
    connection.execute("INSERT INTO embeddings (chunk, vector) VALUES (?, ?)", (chunk_id, chunk.vector))


def chunk_terms(title: str, heading_path: Sequence[str], context: str, text: str) -> str:
    """Return what full text search knows of a chunk."""
    return search_terms(" ".join((title, *heading_path, context, text)))


def set_published(
    connection: Connection, collection: str, *, generation: int, revision: int, count: int, last_id: int
) -> None:
    """Move the pointer to the published generation, within a transaction of the caller."""
    connection.execute(
        "UPDATE collections SET generation = ?, published_revision = ?, published_count = ?, published_last = ?"
        " WHERE name = ?",
        (generation, revision, count, last_id, collection),
    )


def count_revision(connection: Connection, collection: str) -> None:
    """Count a change of a collection, within a transaction of the caller."""
    connection.execute("UPDATE collections SET revision = revision + 1 WHERE name = ?", (collection,))


@contextmanager
def open_writer(folder: Path, wait_seconds: float) -> Iterator[StoreWriter]:
    """Open the store in `folder` for writing.

    Raises:
        StoreLocked: another process writes to it.
        StoreDamaged, StoreUnreachable: it cannot be opened.
    """
    with writer_lock(folder, wait_seconds), closing(connect(folder)) as connection:
        yield StoreWriter(folder, connection)
