"""A tree of HTML elements into text: headings, paragraphs, lists, tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from indexer.parsing.elements import (
    BLOCKS,
    CONTENT,
    FRAME,
    FRAME_OF_PAGE,
    FRAME_ROLES,
    UNSEEN,
    is_hidden,
    name_of,
    texts,
)
from indexer.parsing.writing import TextWriter, one_line

LEVELS = {f"h{level}": level for level in range(1, 7)}
MOST_SPAN = 100


@dataclass
class _List:
    ordered: bool
    count: int


def write_markup(root: etree._Element, writer: TextWriter, *, boilerplate: bool = False) -> None:
    """Write what a reader of the page reads.

    Args:
        root: the page.
        writer: where it is written.
        boilerplate: keep what frames the page as well.
    """
    for part in [root] if boilerplate else _main_parts(root):
        _Walk(writer, boilerplate=boilerplate).write(part)


def _main_parts(root: etree._Element) -> list[etree._Element]:
    """Return the elements that hold what the page is about."""
    found = [element for element in root.iter("*") if name_of(element) == "main" or element.get("role") == "main"]
    found = [part for part in found if not any(above in found for above in part.iterancestors())]
    return found if any(one_line("".join(texts(part))) for part in found) else [root]


class _Walk:
    """One walk over a tree, which does not recurse: a page may be nested as deeply as its author likes."""

    def __init__(self, writer: TextWriter, *, boilerplate: bool) -> None:
        self._writer = writer
        self._boilerplate = boilerplate
        self._words: list[str] = []
        self._lists: list[_List] = []
        self._mark = ""
        self._in_item = 0
        self._preformatted = 0
        self._content = 0

    def write(self, root: etree._Element) -> None:
        """Write an element and everything in it."""
        walk = etree.iterwalk(root, events=("start", "end"))
        skipped = None
        for event, element in walk:
            if event == "start":
                if self._passed_over(element) or self._whole(element):
                    walk.skip_subtree()
                    skipped = element
                else:
                    self._start(name_of(element), element)
                    self._text(element.text)
                continue
            if element is not skipped:
                self._end(name_of(element))
            if element is not root:
                self._text(element.tail)
        self._flush()

    def _passed_over(self, element: etree._Element) -> bool:
        name = name_of(element)
        if name in UNSEEN or is_hidden(element):
            return True
        if self._boilerplate:
            return False
        frames_page = name in FRAME_OF_PAGE and not self._content
        return frames_page or name in FRAME or element.get("role", "").lower() in FRAME_ROLES

    def _whole(self, element: etree._Element) -> bool:
        """Write an element that is written in one piece, and say whether it was one."""
        name = name_of(element)
        if name in LEVELS:
            self._flush()
            self._writer.heading(LEVELS[name], "".join(texts(element)))
        elif name == "table" and not _is_layout(element):
            self._flush()
            self._writer.table(_rows(element))
        else:
            return False
        return True

    def _start(self, name: str, element: etree._Element) -> None:
        if name in BLOCKS:
            self._flush()
        if name in {"ul", "ol"}:
            start = element.get("start", "")
            self._lists.append(_List(name == "ol", int(start) - 1 if start.isdecimal() and len(start) < 9 else 0))
        elif name in {"li", "dd"}:
            self._in_item += 1
            self._mark = self._next_mark() if name == "li" else "-"
        elif name == "pre":
            self._preformatted += 1
        elif name == "br":
            self._words.append("\n")
        self._content += name in CONTENT

    def _end(self, name: str) -> None:
        if name in BLOCKS:
            self._flush()
        if name in {"ul", "ol"}:
            self._lists.pop()
        elif name in {"li", "dd"}:
            self._in_item -= 1
            self._mark = ""
        elif name == "pre":
            self._preformatted -= 1
        self._content -= name in CONTENT

    def _text(self, text: str | None) -> None:
        if text:
            self._words.append(text if self._preformatted else _spaced(text))

    def _flush(self) -> None:
        """Write the block that is open."""
        text, self._words = "".join(self._words), []
        if self._preformatted:
            self._writer.paragraph(text)
            return
        text = "\n".join(line for line in map(one_line, text.split("\n")) if line)
        if not text:
            return
        if self._in_item:
            self._writer.item(text, max(0, len(self._lists) - 1), self._mark or " ")
            self._mark = ""
        else:
            self._writer.paragraph(text)

    def _next_mark(self) -> str:
        if not self._lists:
            return "-"
        self._lists[-1].count += 1
        return f"{self._lists[-1].count}." if self._lists[-1].ordered else "-"


def _rows(table: etree._Element) -> Iterator[list[str]]:
    """Yield the rows of a table; a cell that reaches over several rows is told in each."""
    below: dict[int, tuple[int, str]] = {}
    for row in table.iter("{*}tr"):
        cells: list[str] = []
        for cell in row.iterchildren("{*}td", "{*}th"):
            _fill(cells, below)
            text = one_line("".join(texts(cell)))
            rows = _span(cell, "rowspan")
            if rows > 1:
                below[len(cells)] = (rows - 1, text)
            cells += [text, *[""] * (_span(cell, "colspan") - 1)]
        _fill(cells, below)
        yield cells


def _fill(cells: list[str], below: dict[int, tuple[int, str]]) -> None:
    """Add the cells that reach down from rows above."""
    while len(cells) in below:
        left, text = below.pop(len(cells))
        if left > 1:
            below[len(cells)] = (left - 1, text)
        cells.append(text)


def _span(cell: etree._Element, name: str) -> int:
    value = cell.get(name, "1")
    return min(max(1, int(value)), MOST_SPAN) if value.isdecimal() and len(value) < 9 else 1


def _is_layout(table: etree._Element) -> bool:
    """Whether a table puts a page in order instead of data: it holds others, or headings."""
    return any(name_of(inner) in LEVELS or name_of(inner) == "table" for inner in table.iterdescendants("*"))


def _spaced(text: str) -> str:
    """Return a text whose line ends are spaces, as in HTML; those of `<br>` are added later."""
    return text.replace("\n", " ")
