"""An examination of a store: every check, and the repairs that are asked for."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
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
    first = _look(folder, CHECKS)
    repairable = [check for check in CHECKS if any(finding.repair for finding in first[check.name])]
    last = first
    if fix and repairable:
        _repair(
            folder, [finding for check in repairable for finding in first[check.name]], settings or IndexerSettings()
        )
        last = first | _look(folder, repairable)
    return [result for check in CHECKS for result in _results(check, first[check.name], last[check.name])]


def _look(folder: Path, checks: Sequence[Check]) -> dict[str, list[Finding]]:
    """Return what the checks find in one state of the store, by their names."""
    with closing(connect(folder, read_only=True)) as connection, snapshot(connection):
        return {check.name: _findings(check, folder, connection) for check in checks}


def _findings(check: Check, folder: Path, connection: sqlite3.Connection) -> list[Finding]:
    try:
        return list(check.look(Patient(folder, connection, queries.collections(connection))))
    except sqlite3.DatabaseError as error:
        return [Finding("fail", f"The database cannot be read: {error}.", RESTORE)]


def _results(check: Check, first: list[Finding], last: list[Finding]) -> list[Result]:
    """Return what a check found last, and before it what was found first and holds no more."""
    fixed = [_result(check, finding, fixed=True) for finding in first if not _holds(finding, last)]
    found = [_result(check, finding) for finding in last]
    return fixed + found or [Result(check.name, "pass", "", None)]


def _repair(folder: Path, findings: list[Finding], settings: IndexerSettings) -> None:
    with open_writer(folder, settings.lock_wait_seconds) as writer:
        for repair in dict.fromkeys(finding.repair for finding in findings if finding.repair):
            repair(writer)


def _holds(finding: Finding, findings: list[Finding]) -> bool:
    return finding.detail in (other.detail for other in findings)


def _result(check: Check, finding: Finding, *, fixed: bool = False) -> Result:
    return Result(check.name, "pass" if fixed else finding.level, finding.detail, finding.command, fixed)
