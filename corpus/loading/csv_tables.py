"""Tables: `documents.csv` and `questions.csv` in one folder, with a header row each.

    documents.csv   id, text, and if known title, effective, authority, supersedes; other columns become metadata
    questions.csv   id, question, answers, and if known document_ids, split, fact_id

Several answers or document ids in one cell are separated by `|`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.loading.building import EVIDENCE, Documents, Questions
from corpus.loading.fields import Place, nearest
from corpus.loading.problems import Problems
from corpus.loading.text_files import Row, read_text

DOCUMENTS_TABLE = "documents.csv"
QUESTIONS_TABLE = "questions.csv"
SEPARATOR = "|"


class CsvTables:
    """Loads a folder of two tables."""

    looks_for = f"a folder with {DOCUMENTS_TABLE} and {QUESTIONS_TABLE}"

    def recognises(self, path: Path) -> bool:
        """Say whether the path is a corpus of this format."""
        return (path / DOCUMENTS_TABLE).is_file() and (path / QUESTIONS_TABLE).is_file()

    def load(self, path: Path, problems: Problems) -> tuple[Documents, Questions]:
        """Read the corpus, noting its problems."""
        documents = Documents()
        for row, place in _rows(path / DOCUMENTS_TABLE, ("id", "text"), problems):
            documents.add(row, place)
        questions = Questions(documents)
        for row, place in _rows(path / QUESTIONS_TABLE, ("id", "question", "answers"), problems):
            lists = {name: _cells(row[name]) for name in ("answers", *EVIDENCE) if row.get(name)}
            questions.add({**row, **lists}, place)
        return documents, questions


def _rows(file: Path, required: tuple[str, ...], problems: Problems) -> Iterator[tuple[Row, Place]]:
    """Yield the rows of a table with their lines; empty cells are left out."""
    csv.field_size_limit(sys.maxsize)
    source = read_text(file, problems)
    if source is None:
        return
    reader = csv.DictReader(source.splitlines(keepends=True), strict=True)
    header = [name.strip() for name in reader.fieldnames or ()]
    missing = [name for name in required if name not in header]
    if missing:
        hints = "".join(nearest(name, header) for name in missing)
        columns = ", ".join(header) or "nothing"
        problems.add(file, 1, f"the header has no {' and no '.join(map(repr, missing))}; it has {columns}.{hints}")
        return
    reader.fieldnames = header
    line = 2
    try:
        for cells in reader:
            place = Place(file, line, problems)
            line = reader.line_num + 1
            row: dict[str, Any] = {
                name: cell for name, cell in cells.items() if name and isinstance(cell, str) and cell
            }
            if None in cells or None in cells.values():
                place.wrong(
                    f"the row has not as many cells as the header ({len(header)}); quote cells that hold commas"
                )
            elif row:
                yield row, place
    except csv.Error as error:
        problems.add(file, line, f"no CSV: {error}")


def _cells(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(SEPARATOR) if part.strip()]
