"""CSV and TSV: where a column is called `text`, every row is a document; else the file is one table.

The columns `id`, `title`, `effective`, `authority` and `supersedes` are taken by their names, any other becomes
metadata. A row without an id is called by its file and line.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.parsing.encodings import TextFile, read_text
from indexer.parsing.fields import make_document
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Parsed, SourceFile, Unparsable, Unreadable
from indexer.parsing.writing import TextWriter

DELIMITERS = ",;\t|"
SAMPLE_LINES = 20
TEXT = "text"
KNOWN = frozenset({TEXT, "id", "title", "effective", "authority", "supersedes"})


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed | Unreadable]:
    """Yield the documents of a file with a column of texts, else the one document of a table."""
    read = read_text(file, limits)
    csv.field_size_limit(limits.line_bytes)
    delimiter = "\t" if file.suffix == ".tsv" else _delimiter(read.text)
    rows = _rows(read.text, delimiter)
    names = [name.strip() for name in next((row for _, row in rows if any(row)), [])]
    if TEXT in map(str.lower, names):
        yield from _documents(file, read, names, rows)
    else:
        yield _table(file, read, delimiter)


def _table(file: SourceFile, read: TextFile, delimiter: str) -> Parsed:
    writer = TextWriter()
    try:
        writer.table(row for _, row in _rows(read.text, delimiter))
    except csv.Error as error:
        raise Unparsable(f"not CSV: {error}") from error
    return writer.parsed(file, read.content, notes=read.notes)


def _documents(
    file: SourceFile, read: TextFile, names: Sequence[str], rows: Iterator[tuple[int, list[str]]]
) -> Iterator[Parsed | Unreadable]:
    taken: dict[str, int] = {}
    try:
        for line, row in rows:
            if any(row):
                yield _document(_row(file, names, line, row), taken, read.notes)
    except csv.Error as error:
        yield Unreadable(f"not CSV from here on: {error}", 0)


@dataclass(frozen=True)
class _Row:
    line: int
    id: str
    fields: dict[str, str]
    raw: bytes
    """What the document is made of, its names included."""
    surplus: str
    """Why it is no row of its table; empty if it is one."""


def _row(file: SourceFile, names: Sequence[str], line: int, cells: Sequence[str]) -> _Row:
    lowered = [name.lower() if name.lower() in KNOWN else name for name in names]
    fields = {name: cell for name, cell in zip(lowered, cells, strict=False) if name and cell.strip()}
    raw = "\x1e".join(("\x1f".join(names), "\x1f".join(cells))).encode(errors="surrogatepass")
    surplus = f"{len(cells)} cells for {len(names)} columns" if len(cells) > len(names) else ""
    return _Row(line, fields.pop("id", f"{file.id}:{line}"), fields, raw, surplus)


def _document(row: _Row, taken: dict[str, int], notes: tuple[str, ...]) -> Parsed | Unreadable:
    """Return the document of a row; `taken` says which ids were met on which lines."""
    size = len(row.raw)
    if row.surplus:
        return Unreadable(row.surplus, size, row.line)
    first = taken.setdefault(row.id, row.line)
    if first != row.line:
        return Unreadable(f"the id {row.id!r} is taken by line {first}", size, row.line)
    fields = dict(row.fields)
    try:
        document = make_document(row.id, fields.pop(TEXT, ""), fields)
    except Unparsable as error:
        return Unreadable(str(error), size, row.line)
    return Parsed(document, hashlib.sha256(row.raw).hexdigest(), size, notes=notes)


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows with the number of the line on which each begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    for row in reader:
        yield line, row
        line = reader.line_num + 1


def _delimiter(text: str) -> str:
    """Return what separates the cells: whatever cuts most of the first lines into the same number of cells."""

    def fit(delimiter: str) -> tuple[int, int]:
        counts: list[int] = []
        try:
            for (_, row), _ in zip(_rows(text, delimiter), range(SAMPLE_LINES), strict=False):
                counts.append(len(row))
        except csv.Error:
            return 0, 0
        usual, lines = Counter(counts).most_common(1)[0] if counts else (0, 0)
        return (lines, usual) if usual > 1 else (0, 0)

    return max(DELIMITERS, key=fit)
