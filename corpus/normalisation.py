"""Text made comparable: lower case, no punctuation, no articles, single spaces.

It is the normalisation of SQuAD's evaluation (Rajpurkar et al. 2016, arXiv 1606.05250), by which answers are scored.
"""

from __future__ import annotations

import re
import string

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised_words(text: str) -> tuple[str, ...]:
    """Return the words that are compared: `normalised_words("The Copper-Heron!")` is ("copperheron",)."""
    return tuple(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())
