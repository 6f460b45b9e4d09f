"""Near-duplicate passages, told apart at query time: ten copies must not crowd out the one needed fact.

Two passages are near-duplicates where their vectors are near *and* their words agree, numbers not looked at: a log line
with another reading, a page with another date. Where the question itself names what tells them apart, they are
two answers and no copies: of "sensor 7" and "sensor 8" a question about sensor 7 means one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from indexer.embedding.fingerprint import Vectors
from indexer.search.terms import search_terms

LEAST_COSINE = 0.8
"""Sentences that differ in numbers alone were seen from 0.78 to 0.99, those that differ in a town from 0.57 to 0.70."""
LEAST_JACCARD = 0.8
"""Of the sets of words: at most one in nine is not shared."""
WORD = re.compile(r"\w+")
DIGITS = re.compile(r"\d+")


def near_duplicates(texts: Sequence[str], vectors: Vectors, question: str, distinct: int) -> dict[int, int]:
    """Return for each near-duplicate the position of the better passage that it resembles.

    Stops where `distinct` passages are none; what comes behind is not looked at.

    Args:
        texts: the passages, best first.
        vectors: theirs, of unit length, shape (len(texts), dimension).
        question: what is asked.
        distinct: how many passages are wanted that are no duplicates.
    """
    asked = _words(question)
    words = cache(lambda position: (_words(texts[position]), _words(texts[position], without_numbers=True)))
    kept: list[int] = []
    found: dict[int, int] = {}
    for position in range(len(texts)):
        if len(kept) == distinct:
            break
        cosines = vectors[kept] @ vectors[position]
        near = (kept[int(at)] for at in np.flatnonzero(cosines >= LEAST_COSINE))
        original = next((at for at in near if _says_the_same(words(at), words(position), asked)), None)
        if original is None:
            kept.append(position)
        else:
            found[position] = original
    return found


def _says_the_same(
    one: tuple[frozenset[str], frozenset[str]], other: tuple[frozenset[str], frozenset[str]], asked: frozenset[str]
) -> bool:
    """Compare two passages by their words, as they are and without the numbers in them."""
    if (one[0] ^ other[0]) & asked:
        return False
    return len(one[1] & other[1]) >= LEAST_JACCARD * len(one[1] | other[1])


def _words(text: str, *, without_numbers: bool = False) -> frozenset[str]:
    terms = search_terms(text).casefold()
    return frozenset(WORD.findall(DIGITS.sub("0", terms) if without_numbers else terms))
