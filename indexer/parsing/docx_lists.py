"""The numbers of lists in DOCX: they are not in the text, but follow from how the lists are defined."""

from __future__ import annotations

from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
UNNUMBERED = frozenset({"bullet", "none"})
DEEPEST = 8
BULLET = "-"


class Lists:
    """Counts the items of the lists of a document as they come."""

    def __init__(self, numbering: Any | None) -> None:
        """Take the element that defines the lists; None where there are none."""
        self._counts: dict[tuple[str, int], int] = {}
        self._starts: dict[tuple[str, int], int] = {}
        if numbering is None:
            return
        for number in numbering.iterchildren(f"{W}num"):
            abstract = number.find(f"{W}abstractNumId")
            wanted = "" if abstract is None else abstract.get(f"{W}val", "")
            for definition in numbering.iterchildren(f"{W}abstractNum"):
                if definition.get(f"{W}abstractNumId") == wanted:
                    self._define(number.get(f"{W}numId", ""), definition)

    def _define(self, list_id: str, definition: Any) -> None:
        for level in definition.iterchildren(f"{W}lvl"):
            kind = level.find(f"{W}numFmt")
            if kind is not None and kind.get(f"{W}val") not in UNNUMBERED:
                at = as_number(level.get(f"{W}ilvl", ""), 0, DEEPEST)
                start = level.find(f"{W}start")
                self._starts[list_id, at] = 1 if start is None else as_number(start.get(f"{W}val", ""), 1, 1 << 20)

    def mark(self, list_id: str, depth: int) -> str:
        """Return what stands in front of the next item: `3.`, or a dash where the list has no numbers."""
        for key in [key for key in self._counts if key[0] == list_id and key[1] > depth]:
            # Lists within begin again under every item.
            del self._counts[key]
        start = self._starts.get((list_id, depth))
        if start is None:
            return BULLET
        count = self._counts.get((list_id, depth), start - 1) + 1
        self._counts[list_id, depth] = count
        return f"{count}."


def as_number(value: str, default: int, most: int) -> int:
    """Return a value of an attribute as a number of at most `most`; `default` where it is none."""
    return min(int(value), most) if value.isascii() and value.isdigit() and len(value) < 9 else default
