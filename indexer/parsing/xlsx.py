"""XLSX: every sheet is a heading with a table; formulas count as the values that were stored with them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from io import BytesIO
from typing import Any

import openpyxl

from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Parsed, SourceFile, as_damage
from indexer.parsing.writing import TextWriter
from indexer.parsing.zipped import open_zip

WITHOUT_VALUE = re.compile(rb"(?:</f>|<f[^<>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of an XLSX file."""
    content, archive = open_zip(file, limits, "xl/workbook.xml", "a workbook (XLSX)")
    writer = TextWriter()
    empty: list[str] = []
    with as_damage("workbook"):
        book = openpyxl.load_workbook(BytesIO(content.data), read_only=True, data_only=True, keep_links=False)
        title = book.properties.title or ""
        for sheet in book.worksheets:
            if rows := list(_rows(sheet)):
                writer.heading(1, sheet.title)
                writer.table(rows)
            else:
                empty.append(sheet.title)
        book.close()
    notes = [f"sheets without values: {', '.join(empty)}"] if empty else []
    if bare := _formulas_without_values(archive):
        notes.append(f"{bare} formulas without a stored value are left out: save the file in a spreadsheet program")
    yield writer.parsed(file, content, title or file.path.stem, notes=notes, without="no values in the sheets")


def _formulas_without_values(archive: zipfile.ZipFile) -> int:
    """Count the cells that hold a formula and not what comes of it, as files have them that no program computed."""
    sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
    return sum(len(WITHOUT_VALUE.findall(archive.read(name))) for name in sheets)


def _rows(sheet: Any) -> Iterator[list[str]]:
    """Yield the rows that hold anything, without empty cells at their end."""
    # What a sheet says its size is may be wrong: rows beyond it would be left out.
    sheet.reset_dimensions()
    for values in sheet.iter_rows(values_only=True):
        cells = [_text(value) for value in values]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _text(value: object) -> str:
    """Return a value as a person would write it."""
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value).strip()
