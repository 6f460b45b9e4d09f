"""Where a stretch of a document stands: under which headings, on which page, in which table."""

from __future__ import annotations

from bisect import bisect_right

from indexer.parsing.source import Parsed


class Places:
    """The headings, pages and tables of one document, looked up by offset."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self._headings = [heading.start for heading in parsed.headings]
        self._tables = [table.start for table in parsed.tables]
        self._paths = _paths(parsed)

    def heading_path(self, start: int) -> tuple[str, ...]:
        """Return the headings above `start`, the outermost first; one that begins there is among them."""
        at = bisect_right(self._headings, start) - 1
        return self._paths[at] if at >= 0 else ()

    def page(self, start: int) -> int | None:
        """Return the page of `start`, from 1, or None where there are no pages."""
        return max(1, bisect_right(self._parsed.pages, start)) if self._parsed.pages else None

    def header(self, start: int) -> str:
        """Return the header of the table whose rows `start` lies in, or nothing."""
        at = bisect_right(self._tables, start) - 1
        if at < 0:
            return ""
        table = self._parsed.tables[at]
        inside = table.body <= start < table.end and table.start < start
        return self._parsed.document.text[table.start : table.body].strip() if inside else ""


def _paths(parsed: Parsed) -> list[tuple[str, ...]]:
    """Return for each heading the titles above it and its own."""
    paths: list[tuple[str, ...]] = []
    above: list[tuple[int, str]] = []
    for heading in parsed.headings:
        while above and above[-1][0] >= heading.level:
            above.pop()
        above.append((heading.level, heading.title))
        paths.append(tuple(title for _, title in above))
    return paths
