"""What a rebuild has made so far, and nobody reads yet. It outlives the process and takes effect in one transaction."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from indexer.failpoints import failpoint
from indexer.store import queries
from indexer.store.database import transaction
from indexer.store.queries.of_rebuilds import OF_COLLECTION
from indexer.store.records import NewChunk, Rebuild
from indexer.store.writer import StoreWriter, count_revision, put_chunk

SAID = re.compile(r"/[0-9a-f]{12}$")
"""The hash at the end of a recipe of what was said of the document at the command line."""


class Staging:
    """The unfinished rebuild of a collection."""

    def __init__(self, writer: StoreWriter, collection: str) -> None:
        """Stage through the writer of the store."""
        self._writer = writer
        self._collection = collection

    def begin(self, asked: Rebuild) -> bool:
        """Start a rebuild; say whether one that was interrupted, and asked for the same, is gone on with."""
        pending = queries.pending_rebuild(self._writer.connection, self._collection)
        same = pending is not None and (pending.kind, pending.recipe) == (asked.kind, asked.recipe)
        if pending is not None and same and pending.fingerprint.difference(asked.fingerprint) is None:
            return True
        with transaction(self._writer.connection, self._writer.folder):
            self.clear()
            self._writer.connection.execute(
                "INSERT INTO rebuilds (collection, kind, fingerprint, recipe) VALUES (?, ?, ?, ?)",
                (self._collection, asked.kind, asked.fingerprint.to_json(), asked.recipe),
            )
        return False

    def put_vectors(self, vectors: Mapping[int, bytes]) -> None:
        """Keep new vectors of chunks, by chunk id."""
        with transaction(self._writer.connection, self._writer.folder):
            self._writer.connection.executemany("INSERT INTO staged_vectors VALUES (?, ?)", list(vectors.items()))
        failpoint("rebuild.staged")

    def put_chunks(self, versions: Mapping[int, Sequence[NewChunk]]) -> None:
        """Keep new chunks of versions, by the key of the version; all chunks of it."""
        execute = self._writer.connection.execute
        with transaction(self._writer.connection, self._writer.folder):
            for version, chunks in versions.items():
                execute("INSERT INTO staged_versions VALUES (?)", (version,))
                for chunk in chunks:
                    heading_path = json.dumps(chunk.heading_path, ensure_ascii=False)
                    execute(
                        'INSERT INTO staged_chunks (version, start, "end", tokens, text, context, heading_path, page,'
                        " text_hash, vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        (
                            version, chunk.start, chunk.end, chunk.tokens, chunk.text, chunk.context, heading_path,
                            chunk.page, chunk.text_hash, chunk.vector,
                        ),
                    )  # fmt: skip
        failpoint("rebuild.staged")

    def take_effect(self, asked: Rebuild) -> None:
        """Put what is staged in the place of what is read, within a transaction of the caller."""
        execute = self._writer.connection.execute
        if asked.kind == "embed":
            execute(
                "INSERT OR REPLACE INTO embeddings (chunk, vector) SELECT s.chunk, s.vector FROM staged_vectors s"
                f" JOIN chunks c ON c.id = s.chunk WHERE c.version IN ({OF_COLLECTION})",
                (self._collection,),
            )
        else:
            self._replace_chunks(asked.recipe)
        failpoint("rebuild.swapped_half")
        state = queries.collection(self._writer.connection, self._collection)
        if state is not None and state.fingerprint.difference(asked.fingerprint):
            # A threshold that was calibrated for another model's cosines says nothing.
            execute("UPDATE collections SET min_score = NULL WHERE name = ?", (self._collection,))
        execute(
            "UPDATE collections SET fingerprint = ? WHERE name = ?", (asked.fingerprint.to_json(), self._collection)
        )
        count_revision(self._writer.connection, self._collection)
        self.clear()

    def _replace_chunks(self, recipe: str) -> None:
        connection = self._writer.connection
        connection.execute(f"DELETE FROM chunks WHERE version IN ({OF_COLLECTION})", (self._collection,))
        # A list is not made of it: it reads a table that is not written here.
        for version, title, chunk in queries.staged_chunks(connection, self._collection):
            put_chunk(connection, version, title, chunk)
        of_collection = (self._collection,)
        recipes = connection.execute(
            f"SELECT DISTINCT recipe FROM versions WHERE key IN ({OF_COLLECTION})", of_collection
        )
        for (old,) in recipes.fetchall():
            # What was said of the document when it was ingested is no matter of how it is cut.
            said = SAID.search(old)
            connection.execute(
                f"UPDATE versions SET recipe = ? WHERE recipe = ? AND key IN ({OF_COLLECTION})",
                (recipe + (said[0] if said else ""), old, self._collection),
            )

    def clear(self) -> None:
        """Throw away what is staged, within a transaction of the caller."""
        execute, of_collection = self._writer.connection.execute, (self._collection,)
        execute(
            f"DELETE FROM staged_vectors WHERE chunk IN (SELECT id FROM chunks WHERE version IN ({OF_COLLECTION}))",
            of_collection,
        )
        execute(f"DELETE FROM staged_versions WHERE version IN ({OF_COLLECTION})", of_collection)
        execute("DELETE FROM rebuilds WHERE collection = ?", of_collection)
