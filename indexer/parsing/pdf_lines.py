"""The lines of a PDF into headings and paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Outline = dict[int, dict[str, int]]
"""For pages, counted from 0, the levels of the headings on them by their words in lower case."""
Block = tuple[int, str]
"""The level of a heading, or 0 for a paragraph, and its text."""

HYPHEN = "\ufffe"
"""What PDFium puts where a word was broken, in the place of the hyphen and the end of the line."""
BULLET = re.compile(r"^[•◦▪●‣∙·○■□–]\s+")
ITEM = re.compile(r"^(?:- |\(?(?:\d{1,3}|[a-zA-Z])[.)]\s)")
FULL_SHARE = 0.8
"""A line that reaches so far, measured by the long lines of its document, was broken for want of room."""
LARGER = 1.1
LONGEST_HEADING = 120
MOST_HEADING_LINES = 3
DEEPEST = 6
PRIVATE = 0xF0000
"""Where characters begin that mean nothing to anybody."""


@dataclass(frozen=True)
class Line:
    """A line as it stands on the page."""

    text: str
    size: float
    """Of its letters, in whatever unit the file uses."""


def lines_of(text: str, size_at: Callable[[int], float]) -> list[Line]:
    """Return the lines of a page that are not blank.

    Args:
        text: of the page.
        size_at: says how large the letter at an offset of the text is.
    """
    lines: list[Line] = []
    offset = 0
    for piece in text.split("\n"):
        words = piece.replace("\0", "").replace(HYPHEN, "").strip()
        if words:
            first = offset + len(piece) - len(piece.lstrip())
            lines.append(Line(BULLET.sub("- ", words), round(size_at(first), 1)))
        offset += len(piece) + 1
    return lines


def blocks(pages: Sequence[Sequence[Line]], outline: Outline) -> Iterator[list[Block]]:
    """Yield the headings and paragraphs of each page."""
    levels = {} if outline else _levels(pages)
    full = _full_length(pages)
    for index, page in enumerate(pages):
        yield _page_blocks(page, outline.get(index, {}), levels, full)


def edges_of(pages: Sequence[Sequence[Line]]) -> list[list[str]]:
    """Return the lines of pages as running headers and footers are looked for: lines in larger letters are none."""
    larger = _levels(pages)
    # A character for each page that stands on no other.
    return [
        [chr(PRIVATE + number) if line.size in larger else line.text for line in page]
        for number, page in enumerate(pages)
    ]


def _page_blocks(page: Sequence[Line], titles: dict[str, int], levels: dict[float, int], full: float) -> list[Block]:
    found: list[Block] = []
    open_: list[str] = []
    at = 0
    while at < len(page):
        level, count = _heading(page, at, titles, levels)
        if level:
            if open_:
                found.append((0, "\n".join(open_)))
                open_ = []
            found.append((level, " ".join(line.text for line in page[at : at + count])))
        else:
            count = 1
            if open_ and _goes_on(page[at - 1].text, page[at].text, full):
                open_[-1] = f"{open_[-1]} {page[at].text}"
            else:
                open_.append(page[at].text)
        at += count
    if open_:
        found.append((0, "\n".join(open_)))
    return found


def _heading(page: Sequence[Line], at: int, titles: dict[str, int], levels: dict[float, int]) -> tuple[int, int]:
    """Return the level of the heading that begins at a line, 0 if none does, and how many lines it has."""
    for count in range(1, MOST_HEADING_LINES + 1):
        words = " ".join(line.text for line in page[at : at + count]).casefold()
        if words in titles:
            return titles[words], count
    level = levels.get(page[at].size, 0)
    count = 1
    while level and at + count < len(page) and page[at + count].size == page[at].size:
        count += 1
    if (
        level
        and count <= MOST_HEADING_LINES
        and sum(len(line.text) for line in page[at : at + count]) <= LONGEST_HEADING
    ):
        return level, count
    return 0, 1


def _levels(pages: Sequence[Sequence[Line]]) -> dict[float, int]:
    """Return the levels of the sizes that are larger than that of most of the text."""
    letters: Counter[float] = Counter()
    for page in pages:
        for line in page:
            letters[line.size] += len(line.text)
    if not letters:
        return {}
    usual = letters.most_common(1)[0][0]
    larger = sorted((size for size in letters if size > usual * LARGER), reverse=True)
    return {size: min(level, DEEPEST) for level, size in enumerate(larger, start=1)}


def _full_length(pages: Sequence[Sequence[Line]]) -> float:
    """Return how many letters a line has at least that was broken for want of room.

    It is told from the whole document: on a page of nothing but a table every row looks full.
    """
    lengths = sorted(len(line.text) for page in pages for line in page)
    # Not the longest of all: one wide line says nothing about the others.
    return lengths[int(0.99 * (len(lengths) - 1))] * FULL_SHARE if lengths else 0.0


def _goes_on(line: str, next_: str, full: float) -> bool:
    """Whether a line and the next are one that was broken."""
    return len(line) >= full and not ITEM.match(next_)
