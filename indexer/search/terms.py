"""Text as the full text search sees it: words apart by spaces, in every script.

SQLite's tokenizer takes a run of Chinese, Japanese, Korean or Thai characters for one word, which no shorter query
meets. Such a run is written as its overlapping pairs of characters (bigrams) and its last character, so that any part
of it is found: a longer one by its pairs, a single character as the beginning of a pair. Text is normalised first
(NFKC), for a file may spell й or が as two code points and a question as one.
"""

from __future__ import annotations

import re
import unicodedata

RUN = re.compile(
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)
MARKS = ("Mn", "Mc")
"""Categories of marks upon a character; SQLite's tokenizer ends a word at most of them."""


def search_terms(text: str) -> str:
    """Return `text` normalised, with every run of a script without spaces replaced by its bigrams."""
    return RUN.sub(lambda run: f" {' '.join(_bigrams(run[0], ends=True))} ", _normalised(text))


def query_terms(question: str) -> list[str]:
    """Return the words of a question as quoted terms of a full text query, each once, in their order."""
    terms: dict[str, None] = {}
    for word in re.findall(f"{RUN.pattern}|[^{RUN.pattern[1:-2]}]+", _normalised(question)):
        found = _of_run(word) if RUN.match(word) else _of_spaced(word)
        terms.update(dict.fromkeys(found))
    return list(terms)


def _of_run(run: str) -> list[str]:
    characters = _bigrams(run, ends=False)
    # A single character is the beginning of a pair, or stands at the end of its run.
    return [f'"{term}"' if len(term) > 1 else f'"{term}"*' for term in characters]


def _of_spaced(text: str) -> list[str]:
    # Marks stay in their word: the tokenizer makes a phrase of what they part.
    kept = (c if c.isalnum() or unicodedata.category(c) in MARKS else " " for c in text)
    words = "".join(kept).casefold().split()
    return [f'"{word}"' for word in words if any(map(str.isalnum, word))]


def _normalised(text: str) -> str:
    # A lone surrogate cannot be stored; NUL would end the text.
    valid = text.encode("utf-8", "replace").decode().replace("\0", " ")
    return unicodedata.normalize("NFKC", valid)


def _bigrams(run: str, *, ends: bool) -> list[str]:
    letters = "".join(c for c in run if unicodedata.category(c) not in MARKS)
    pairs = [letters[at : at + 2] for at in range(len(letters) - 1)]
    return [*pairs, letters[-1:]] if ends or not pairs else pairs
