"""Contains answer: does an accepted spelling stand in the answer, word for word?

1 or 0; higher is better. Both are normalised as SQuAD does it, and whole words are compared, so that "7" is not found
in "17" but is in "7 crowns". It forgives a chatty model what exact match does not.
"""

from __future__ import annotations

from app.schemas.answer import Answer
from corpus.schema import Question
from experiments.metrics.metric import Metric
from experiments.metrics.normalisation import best_over_answers


def contains(predicted: tuple[str, ...], gold: tuple[str, ...]) -> bool:
    """Say whether `gold` is a contiguous part of `predicted`."""
    return any(predicted[start : start + len(gold)] == gold for start in range(len(predicted) - len(gold) + 1))


def score(answer: Answer, question: Question) -> float:
    """Return 1 if an accepted spelling is contained in the answer, else 0."""
    return best_over_answers(lambda predicted, gold: float(contains(predicted, gold)), answer.answer, question)


CONTAINS_ANSWER = Metric("contains_answer", "Contains answer", "%", higher_is_better=True, score=score)
