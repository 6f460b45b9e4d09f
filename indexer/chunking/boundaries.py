"""The places where a text may be cut: before a heading, between paragraphs, lines, sentences and words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from enum import IntEnum

from indexer.chunking.stretch import trimmed
from indexer.parsing.source import Parsed


class Boundary(IntEnum):
    """Kinds of places where a text may be cut, the strongest last."""

    ANYWHERE = 0
    WORD = 1
    SENTENCE = 2
    LINE = 3
    PARAGRAPH = 4
    HEADING = 5


PATTERNS = {
    Boundary.WORD: re.compile(r"\s+"),
    # A full stop ends a sentence where white space follows it; the CJK ones need none.
    Boundary.SENTENCE: re.compile(r"""[.!?…]["'”’)\]]?\s+|[。！？]\s*"""),
    Boundary.LINE: re.compile(r"\n\s*"),
    Boundary.PARAGRAPH: re.compile(r"\n[^\S\n]*\n\s*"),
}
"""What lies in front of a boundary of each kind; the chunk behind it begins where the match ends."""


class Boundaries:
    """The places of one text, by kind."""

    def __init__(self, parsed: Parsed, end: int) -> None:
        """Find the places of a document in front of `end`."""
        text = parsed.document.text
        # A heading stays with what it is the heading of, and a table's header with its first row.
        behind_heading = {trimmed(text, heading.end, end)[0] for heading in parsed.headings}
        headers = [(table.start, trimmed(text, table.body, table.end)[0]) for table in parsed.tables]
        self._headings = [heading.start for heading in parsed.headings]
        self._places: dict[Boundary, list[int]] = {Boundary.HEADING: self._headings}
        for kind, pattern in PATTERNS.items():
            places = [match.end() for match in pattern.finditer(text, 0, end)]
            # Between words even there: a header may be longer than a chunk.
            inside = set() if kind == Boundary.WORD else set(_within(places, headers))
            self._places[kind] = [place for place in places if place not in behind_heading and place not in inside]

    def strongest(self, after: int, latest: int) -> int:
        """Return the last place of the strongest kind in (after, latest], or `latest` where there is none."""
        for kind in sorted(self._places, reverse=True):
            places = self._places[kind]
            at = bisect_right(places, latest) - 1
            if at >= 0 and places[at] > after:
                return places[at]
        return latest

    def overlapping(self, earliest: int, start: int) -> int:
        """Return where a chunk that would begin at `start` begins so that it repeats the end of the one before it.

        That is the first line or sentence from `earliest` on, else the first word. Nothing is repeated from in front
        of a heading.
        """
        heading = bisect_right(self._headings, start) - 1
        if heading >= 0:
            earliest = max(earliest, self._headings[heading])
        for kinds in ((Boundary.LINE, Boundary.SENTENCE), (Boundary.WORD,)):
            found = [self._first(self._places[kind], earliest, start) for kind in kinds]
            if min(found) < start:
                return min(found)
        return start

    @staticmethod
    def _first(places: list[int], earliest: int, start: int) -> int:
        at = bisect_left(places, earliest)
        return min(places[at], start) if at < len(places) else start


def _within(places: list[int], ranges: list[tuple[int, int]]) -> Iterator[int]:
    """Find the places that lie behind the start of a range, as far as its end."""
    for start, end in ranges:
        yield from places[bisect_right(places, start) : bisect_right(places, end)]
