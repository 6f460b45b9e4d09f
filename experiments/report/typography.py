"""Text set for the page: accepted answers marked in passages, and lines that do not break inside a number or a word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

from experiments.report import words


def highlight(text: str, answers: Sequence[str]) -> Markup:
    """Return the passage as markup with every accepted answer in it marked, whole words only, in either case."""
    text, spellings = words.visible(text), sorted({answer.strip() for answer in answers} - {""}, key=len, reverse=True)
    if not spellings:
        return escape(text)
    found = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, spellings))})(?!\w)", re.IGNORECASE)
    marked, end = Markup(), 0
    for match in found.finditer(text):
        marked += escape(text[end : match.start()]) + Markup("<mark>{}</mark>").format(match[0])
        end = match.end()
    return marked + escape(text[end:])


def unbroken(text: str) -> Markup:
    """Return the text as markup that keeps a per cent sign with its number and a short hyphenated word in one piece."""
    joined = str(escape(re.sub(r"(?<=\d) (?=%)", words.SPACE, words.visible(text))))
    return Markup(re.sub(r"\b[A-Za-z]{1,12}-[A-Za-z]{1,12}\b", r'<span class="whole">\g<0></span>', joined))
