"""The database itself: pages, references between rows, and texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from indexer.doctor.findings import Finding, Patient, few

RESTORE = "openbook restore BACKUP"


class DatabaseIsWhole:
    """SQLite finds every page and index of its file in order."""

    name = "database"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Run SQLite's own check."""
        problems = [str(row[0]) for row in patient.connection.execute("PRAGMA integrity_check(20)")]
        if problems != ["ok"]:
            yield Finding("fail", f"The database is damaged: {few(problems)}.", RESTORE)


class RowsBelongTogether:
    """Every row refers to rows that are there, and every document has one current version."""

    name = "references"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Look for rows without a parent, and for documents and versions that contradict each other."""
        lost = [f"{table} {row}" for table, row, *_ in patient.connection.execute("PRAGMA foreign_key_check")]
        if lost:
            yield Finding("fail", f"Rows refer to what is not there: {few(lost)}.", RESTORE)
        for what, query in {
            "have no current version": "SELECT id FROM documents WHERE version IS NULL",
            "have the version of another document": "SELECT d.id FROM documents d JOIN versions v ON v.key = d.version"
            " WHERE v.document != d.key",
            "have a current version that is said to have ended": "SELECT d.id FROM documents d"
            " JOIN versions v ON v.key = d.version WHERE v.ended IS NOT NULL",
            "have a superseded version that is not said to have ended": "SELECT d.id FROM documents d"
            " JOIN versions v ON v.document = d.key WHERE v.key != d.version AND v.ended IS NULL",
        }.items():
            ids = [repr(row[0]) for row in patient.connection.execute(query)]
            if ids:
                yield Finding("fail", f"Documents {what}: {few(ids)}.", RESTORE)


class TextsAreUnchanged:
    """Every text has the checksum it had when it was stored."""

    name = "texts"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Sum every text again."""
        rows = patient.connection.execute(
            "SELECT d.id, v.text, v.content_hash FROM versions v JOIN documents d ON d.key = v.document"
        )
        changed = [repr(id_) for id_, text, hash_ in rows if hashlib.sha256(text.encode()).hexdigest() != hash_]
        if changed:
            yield Finding("fail", f"Texts differ from their checksums: {few(changed)}.", RESTORE)
