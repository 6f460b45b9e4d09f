"""Where an accepted answer stands in a passage."""

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
