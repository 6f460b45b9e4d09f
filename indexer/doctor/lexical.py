"""The full text index: that it knows the words of every chunk and of nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator

from indexer.doctor.findings import FIX, Finding, Patient, few
from indexer.store.lexical import rebuild_lexical
from indexer.store.writer import chunk_terms


class WordsAgreeWithChunks:
    """The full text index holds the words of every chunk, and of nothing else."""

    name = "full text index"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Compare every row with its chunk."""
        rows = patient.connection.execute(
            "SELECT c.id, v.title, c.heading_path, c.context, c.text, l.terms FROM chunks c"
            " JOIN versions v ON v.key = c.version LEFT JOIN lexical l ON l.rowid = c.id"
        )
        wrong = [
            str(id_)
            for id_, title, heading_path, context, text, terms in rows
            if terms != chunk_terms(title, json.loads(heading_path), context, text)
        ]
        if wrong:
            detail = f"The full text index does not know the words of the chunks {few(wrong)}."
            yield Finding("fail", detail, FIX, rebuild_lexical)
        lost = [
            str(row[0])
            for row in patient.connection.execute(
                "SELECT rowid FROM lexical WHERE rowid NOT IN (SELECT id FROM chunks)"
            )
        ]
        if lost:
            detail = f"The full text index holds words of chunks that are gone: {few(lost)}."
            yield Finding("fail", detail, FIX, rebuild_lexical)
