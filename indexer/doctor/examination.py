"""An examination of a store: every check, and the repairs that are asked for."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from indexer.doctor import CHECKS, Check
from indexer.doctor.database import RESTORE
from indexer.doctor.findings import Finding, Level, Patient
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.database import connect, require_store, snapshot
from indexer.store.writer import open_writer


@dataclass(frozen=True)
class Result:
    """What a check came to."""

    check: str
    level: Level
    detail: str
    command: str | None
    fixed: bool = False


def examine(folder: Path, *, fix: bool = False, settings: IndexerSettings | None = None) -> list[Result]:
    """Look at everything that must be true of a store.

    Args:
        folder: the store.
        fix: repair what is derived from the texts. Nothing is changed otherwise.
        settings: None reads the environment.

    Raises:
        UsageError: there is no store.
        StoreDamaged: the database cannot be opened.
        StoreLocked: something is to be repaired while another process writes.
    """
    require_store(folder)
    results: list[Result] = []
    for check in CHECKS:
        findings = _look(folder, check)
        repaired = False
        if fix and any(finding.repair for finding in findings):
            _repair(folder, findings, settings or IndexerSettings())
            repaired, before, findings = True, findings, _look(folder, check)
            results += [_result(check, finding, fixed=True) for finding in before if not _holds(finding, findings)]
        results += [_result(check, finding) for finding in findings]
        if not findings and not repaired:
            results.append(Result(check.name, "pass", "", None))
    return results


def _look(folder: Path, check: Check) -> list[Finding]:
    with closing(connect(folder, read_only=True)) as connection, snapshot(connection):
        try:
            patient = Patient(folder, connection, queries.collections(connection))
            return list(check.look(patient))
        except sqlite3.DatabaseError as error:
            return [Finding("fail", f"The database cannot be read: {error}.", RESTORE)]


def _repair(folder: Path, findings: list[Finding], settings: IndexerSettings) -> None:
    with open_writer(folder, settings.lock_wait_seconds) as writer:
        for repair in dict.fromkeys(finding.repair for finding in findings if finding.repair):
            repair(writer)


def _holds(finding: Finding, findings: list[Finding]) -> bool:
    return finding.detail in (other.detail for other in findings)


def _result(check: Check, finding: Finding, *, fixed: bool = False) -> Result:
    return Result(check.name, "pass" if fixed else finding.level, finding.detail, finding.command, fixed)
