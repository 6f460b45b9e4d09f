"""Text as the full text search sees it: words apart by spaces, in every script.

SQLite's tokenizer takes a run of Chinese, Japanese or Korean characters for one word, which no shorter query meets.
Such a run is written as its overlapping pairs of characters (bigrams), and a single character as itself.
"""

from __future__ import annotations

import re

CJK_RUN = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def search_terms(text: str) -> str:
    """Return `text` with every CJK run replaced by its bigrams; other text stays as it is."""
    return CJK_RUN.sub(lambda run: f" {' '.join(_bigrams(run[0]))} ", text)


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]
