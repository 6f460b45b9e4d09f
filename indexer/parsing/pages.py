"""What is particular to formats that have pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

EDGE_LINES = 3
"""Running headers and footers are looked for among so many first and last lines of a page."""
LEAST_PAGES = 3
"""Of fewer pages nobody can say what repeats."""
LEAST_SHARE = 0.5
NUMBER = re.compile(r"\d+")
PAGE_NUMBER = re.compile(
    r"[-–—|\s]*(?:page|seite|стр\.?|p\.)?\s*(\d{1,4})(?:\s*(?:/|of|von|из)\s*\d{1,4})?[-–—|\s]*", re.IGNORECASE
)
LONGEST_NUMBER = 40
SHOWN_PAGES = 20


def pages_without_text(numbers: Sequence[int], word: str = "page") -> list[str]:
    """Return the note on pages without text, if there are any: `pages 2, 5: no text`."""
    if not numbers:
        return []
    shown = ", ".join(map(str, numbers[:SHOWN_PAGES])) + (", …" if len(numbers) > SHOWN_PAGES else "")
    return [f"{word}{'s' if len(numbers) > 1 else ''} {shown}: no text"]


def running_lines(pages: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Find the running headers, footers and page numbers of pages.

    A line at the edge of a page is one if it stands at that edge of at least half the pages, with a number in it that
    counts the pages or without, or if it is nothing but the number of the page.

    Args:
        pages: the lines of each page, without blank ones.

    Returns:
        For each page how many lines to leave out at its top and at its bottom.
    """
    counts: Counter[tuple[bool, str]] = Counter()
    for number, page in enumerate(pages, start=1):
        counts.update({(top, shape) for top, at in _edges(page) for shape in _shapes(page[at], number)})
    enough = max(LEAST_PAGES, sum(1 for page in pages if page) * LEAST_SHARE)
    running = {line for line, count in counts.items() if count >= enough}
    return [_ends(page, number, running) for number, page in enumerate(pages, start=1)]


def _ends(page: Sequence[str], number: int, running: set[tuple[bool, str]]) -> tuple[int, int]:
    top = bottom = 0
    most = min(EDGE_LINES, len(page))
    while top < most and _is_running(page[top], number, running, top=True):
        top += 1
    while bottom < min(most, len(page) - top) and _is_running(page[-1 - bottom], number, running, top=False):
        bottom += 1
    return top, bottom


def _is_running(line: str, number: int, running: set[tuple[bool, str]], *, top: bool) -> bool:
    match = PAGE_NUMBER.fullmatch(line) if len(line) <= LONGEST_NUMBER else None
    return bool(match and int(match[1]) == number) or any((top, shape) in running for shape in _shapes(line, number))


def _edges(page: Sequence[str]) -> Iterator[tuple[bool, int]]:
    """Yield for the lines at the edges of a page whether they are at its top, and where they stand."""
    for at in range(min(EDGE_LINES, len(page))):
        yield True, at
        yield False, len(page) - 1 - at


def _shapes(line: str, number: int) -> set[str]:
    """Return a line as it is, and with its first and its last number told from the number of the page."""
    line = line.strip()
    shapes = {line}
    matches = list(NUMBER.finditer(line))
    for match in {matches[0], matches[-1]} if matches else ():
        if len(match[0]) < 6:
            shapes.add(f"{line[: match.start()]}\0{int(match[0]) - number}{line[match.end() :]}")
    return shapes
