"""The frame of a prompt: beginnings of lines, such as `[2]` or `Question:`, that only the template may write.

A line of a passage, a question or an earlier turn that begins so, or looks as if it did, is quoted: it gets `> ` in
front. What comes from documents can then neither open a passage of its own, nor ask, nor answer, nor speak for anybody.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable

from app.prompting.lookalikes import folded, inserted, origins

QUOTE = "> "
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""What ends a line for somebody: `str.splitlines` knows the same."""
SPEAKERS = ("question", "answer", "system", "user", "assistant", "human")
"""Those who might seem to speak at the beginning of a line, in any template."""
DECORATION = r"[^\S\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*[*_#]*[ \t]*"
"""Indentation, and the signs of Markdown for headings and bold."""


class Frame:
    """The frame of one template."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Take the lines of its patterns: what each begins with, before its first placeholder, is the frame's alone."""
        speakers = rf"(?:{'|'.join(SPEAKERS)})[*_]*\s*:"
        marks = [speakers, *filter(None, (_mark(line) for line in lines))]
        line_start = rf"(?:\A|(?<=[{BREAKS}]))"
        self._forged = re.compile(rf"{line_start}(?={DECORATION}(?:{'|'.join(dict.fromkeys(marks))}))", re.IGNORECASE)

    def quote(self, text: str) -> str:
        """Return the text with every line quoted that could be taken for one of the frame's; most have none."""
        forged = [match.start() for match in self._forged.finditer(folded(text))]
        if not forged:
            return text
        at = origins(text)
        return inserted(text, QUOTE, [at[place] for place in forged])


def one_line(text: str) -> str:
    """Return a title or another text of one line without breaks in it."""
    return re.sub(f"[{BREAKS}]+", " ", text)


def _mark(line: str) -> str:
    """Return a pattern of what a line of a template begins with, "" where it begins with a placeholder."""
    pattern = ""
    for literal, field, _, _ in string.Formatter().parse(line):
        pattern += r"\s*".join(re.escape(sign) for sign in re.findall(r"\w+|[^\w\s]", literal))
        if field is None:
            continue
        if field != "label" or not literal.strip():
            break
        pattern += r"\s*\d{1,4}\s*"
    return pattern
