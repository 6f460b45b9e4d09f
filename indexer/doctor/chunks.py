"""Chunks: that they are stretches of their texts, and that each has a vector that points somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from indexer.doctor.findings import Finding, Patient, few
from indexer.embedding.fingerprint import PROBE_TEXTS
from indexer.store.records import Collection

LENGTH_TOLERANCE = 1e-3
BLOCK = 4096


class ChunksAgreeWithTexts:
    """`chunk.text == text[chunk.start:chunk.end]`, for every chunk of every version."""

    name = "chunks"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Cut every chunk out of its text again."""
        wrong: dict[str, list[str]] = {}
        rows = patient.connection.execute(
            'SELECT c.version, c.id, c.start, c."end", c.text FROM chunks c ORDER BY c.version'
        )
        for version, chunks in groupby(rows, key=lambda row: row[0]):
            whole = patient.connection.execute(
                "SELECT d.collection, d.id, v.text FROM versions v JOIN documents d ON d.key = v.document"
                " WHERE v.key = ?",
                (version,),
            ).fetchone()
            if whole is None:
                # A row without a parent is found by another check.
                continue
            collection, id_, text = whole
            bad = [str(chunk) for _, chunk, start, end, piece in chunks if text[start:end] != piece]
            if bad:
                wrong.setdefault(collection, []).append(f"{id_!r} (chunk {few(bad, 1)})")
        for collection, ids in wrong.items():
            yield Finding(
                "fail",
                f"Chunks of {few(ids)} are not what their texts say at their offsets.",
                f"openbook rebuild --collection {collection}",
            )


class EveryDocumentHasChunks:
    """A document with text can be found."""

    name = "documents without chunks"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Look for current versions with text and without chunks."""
        for name in patient.states:
            rows = patient.connection.execute(
                "SELECT d.id, v.text FROM documents d JOIN versions v ON v.key = d.version WHERE d.collection = ?"
                " AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.version = v.key)",
                (name,),
            )
            ids = [repr(id_) for id_, text in rows if text.strip()]
            if ids:
                detail = f"Documents of {name!r} have text and no chunks, and are never found: {few(ids)}."
                yield Finding("fail", detail, f"openbook rebuild --collection {name}")


class EmbeddingsAreDirections:
    """Every chunk has a vector of its collection's dimension, finite and of unit length."""

    name = "embeddings"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Read every vector."""
        for state in patient.states.values():
            again = f"openbook rebuild --embed-only --collection {state.name}"
            if len(state.fingerprint.probes) != 4 * state.fingerprint.dimension * len(PROBE_TEXTS):
                yield Finding("fail", f"The fingerprint of the embedder of {state.name!r} is damaged.", again)
            wrong = [str(chunk) for chunk in _wrong(patient, state)]
            if wrong:
                detail = f"Chunks of {state.name!r} have no vector, or one that is no direction: {few(wrong)}."
                yield Finding("fail", detail, again)


def _wrong(patient: Patient, state: Collection) -> Iterator[int]:
    rows = patient.connection.execute(
        "SELECT c.id, e.vector FROM documents d JOIN versions v ON v.document = d.key"
        " JOIN chunks c ON c.version = v.key LEFT JOIN embeddings e ON e.chunk = c.id WHERE d.collection = ?",
        (state.name,),
    )
    bytes_ = 4 * state.fingerprint.dimension
    while block := rows.fetchmany(BLOCK):
        whole = [(id_, vector) for id_, vector in block if vector is not None and len(vector) == bytes_]
        yield from {id_ for id_, _ in block} - {id_ for id_, _ in whole}
        vectors = np.frombuffer(b"".join(vector for _, vector in whole), dtype=np.float32)
        # A length is not finite either where one of its numbers is not.
        lengths = np.linalg.norm(vectors.reshape(len(whole), state.fingerprint.dimension), axis=1)
        for position in np.flatnonzero(~(np.abs(lengths - 1) < LENGTH_TOLERANCE)):
            yield whole[position][0]
