"""Answers made comparable, as SQuAD's evaluation does it (Rajpurkar et al. 2016, arXiv 1606.05250)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from corpus.normalisation import normalised_words
from corpus.schema import Question
from experiments.errors import SpecError

tokens = lru_cache(maxsize=100_000)(normalised_words)
"""The words of a normalised text. Every answer is compared several times, so they are remembered."""


def require_scorable(question: Question) -> None:
    """Refuse an accepted answer of which nothing is left, since every answer would contain it.

    Raises:
        SpecError: An accepted answer, e.g. "The" or "?", normalises to nothing.
    """
    for gold in question.answers:
        if not tokens(gold):
            raise SpecError(
                f"Question {question.id!r} cannot be scored: of its accepted answer {gold!r} nothing is left without "
                "case, punctuation and articles. Remove that spelling."
            )


def best_over_answers(
    compare: Callable[[tuple[str, ...], tuple[str, ...]], float], answer: str, question: Question
) -> float:
    """Return the highest value of `compare(answer, gold)` over the accepted spellings, all normalised."""
    require_scorable(question)
    predicted = tokens(answer)
    return max(compare(predicted, tokens(gold)) for gold in question.answers)
