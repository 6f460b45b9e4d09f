"""Readable text out of formats that are none: blocks one under the other, marked the way Markdown marks them.

Where each heading, table and page lies in the text is known exactly, since all of it is written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from indexer.parsing.fields import make_document
from indexer.parsing.source import Content, Heading, NoText, Parsed, SourceFile, Table

DEEPEST = 6
SPACE = re.compile(r"\s+")


class TextWriter:
    """Writes a text block by block."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._after_item = False
        self._headings: list[Heading] = []
        self._tables: list[Table] = []
        self._pages: list[int] = []
        self._new_pages = 0

    @property
    def empty(self) -> bool:
        """Whether nothing was written yet."""
        return not self._pieces

    @property
    def length(self) -> int:
        """How many characters were written so far."""
        return self._length

    def heading(self, level: int, title: str) -> None:
        """Write a heading; `level` is 1 for the outermost."""
        title = one_line(title)
        if title:
            level = min(max(level, 1), DEEPEST)
            start = self._write(f"{'#' * level} {title}")
            self._headings.append(Heading(start, self._length, level, title))

    def paragraph(self, text: str) -> None:
        """Write a paragraph, its lines as they are."""
        text = text.replace("\0", "").strip("\n")
        if text.strip():
            self._write(text)

    def item(self, text: str, depth: int = 0, mark: str = "-") -> None:
        """Write an item of a list; `depth` is 0 for an item that is in no other."""
        text = text.replace("\0", "").strip()
        if text:
            first, hanging = f"{'  ' * depth}{mark} ", "  " * depth + " " * (len(mark) + 1)
            self._write(first + f"\n{hanging}".join(text.split("\n")), item=True)

    def table(self, rows: Iterable[Sequence[str]]) -> None:
        """Write a table whose first row is its header. One that has but one row or column is written as lines."""
        filled = [cells for row in rows if any(cells := [one_line(cell) for cell in row])]
        width = max((max(at + 1 for at, cell in enumerate(row) if cell) for row in filled), default=0)
        if width < 2 or len(filled) < 2:
            self.paragraph("\n".join(" | ".join(cell for cell in row if cell) for row in filled))
            return
        header, *body = [_row(row, width) for row in filled]
        head = f"{header}\n|{' --- |' * width}\n"
        start = self._write(head + "\n".join(body))
        self._tables.append(Table(start, start + len(head), self._length))

    def page(self) -> None:
        """Begin a page."""
        self._new_pages += 1

    def parsed(
        self,
        file: SourceFile,
        content: Content,
        title: str = "",
        *,
        notes: Iterable[str] = (),
        without: str = "no text",
        fields: dict[str, object] | None = None,
    ) -> Parsed:
        """Return what was written as the one document of a file.

        Args:
            file: the file.
            content: its bytes.
            title: what the file says its title is; else it is the first heading, or the file's name.
            notes: what is odd about it.
            without: the reason where nothing was written.
            fields: what else is known.

        Raises:
            NoText: nothing was written.
        """
        if self.empty:
            raise NoText(without)
        text = "".join(self._pieces)
        self._pages += [len(text)] * self._new_pages
        first = next((heading.title for heading in self._headings), "")
        known = {"title": one_line(title) or first or file.path.stem, **(fields or {})}
        return Parsed(
            make_document(file.id, text, known),
            content.hash,
            content.size,
            tuple(self._headings),
            tuple(self._tables),
            tuple(self._pages),
            tuple(notes),
        )

    def _write(self, block: str, *, item: bool = False) -> int:
        """Write a block and return where it begins."""
        if self._pieces:
            # Items of a list stand close together.
            gap = "\n" if item and self._after_item else "\n\n"
            self._pieces.append(gap)
            self._length += len(gap)
        start = self._length
        # Whatever is in front of the first block of a page is on the page before.
        self._pages += [start] * self._new_pages
        self._new_pages = 0
        self._pieces.append(block)
        self._length += len(block)
        self._after_item = item
        return start


def one_line(text: str) -> str:
    """Return a text with every stretch of white space as one space, and without NUL."""
    return SPACE.sub(" ", text.replace("\0", "")).strip()


def _row(cells: Sequence[str], width: int) -> str:
    padded = [cell.replace("|", "\\|") for cell in (*cells, *[""] * width)[:width]]
    return f"| {' | '.join(padded)} |"
