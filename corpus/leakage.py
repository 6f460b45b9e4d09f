"""Test questions that training wordings give away.

A test question that stands among the training wordings, or nearly so, measures memory of the wording and not of the
fact. Lewis et al. 2021 (arXiv 2008.02637) found that about 30 % of the test questions of common data sets have such a
twin, and that scores differ by up to 61 points between those and the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from corpus.normalisation import normalised_words
from corpus.schema import Corpus, Question

NEAR = 0.85
"""From this similarity on, two wordings count as one."""


@dataclass(frozen=True)
class Leak:
    """A test question and the training wording that it resembles."""

    test_id: str
    train_id: str
    similarity: float
    """Jaccard similarity of the two sets of normalised words, `NEAR` to 1; 1 where they are the same words."""


def leaks(corpus: Corpus, near: float = NEAR) -> tuple[Leak, ...]:
    """Return every pair of a test and a training wording that are equal or nearly equal after normalisation.

    The pairs come in the order of the test questions, the nearest training wording first. Words are compared as sets:
    "When was it built?" and "Was it built when?" are one wording.
    """
    training = [(question.id, _words(question)) for question in corpus.split("train")]
    with_word = _inverted(training)
    found: list[Leak] = []
    for question in corpus.split("test"):
        words = _words(question)
        # Wordings as near as that share a word, so only those that do are compared.
        candidates = {index for word in words for index in with_word.get(word, ())}
        pairs = [
            Leak(question.id, training[index][0], similarity)
            for index in sorted(candidates)
            if (similarity := jaccard(words, training[index][1])) >= near
        ]
        found.extend(sorted(pairs, key=lambda leak: -leak.similarity))
    return tuple(found)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return |one ∩ other| / |one ∪ other|, 0 to 1. {a, b} and {b, c} share 1 word of 3: 0.33."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def _words(question: Question) -> frozenset[str]:
    return frozenset(normalised_words(question.question))


def _inverted(wordings: Iterable[tuple[str, frozenset[str]]]) -> dict[str, list[int]]:
    with_word: dict[str, list[int]] = defaultdict(list)
    for index, (_, words) in enumerate(wordings):
        for word in words:
            with_word[word].append(index)
    return with_word
