"""Exact match: is the answer, normalised, one of the accepted spellings?

1 or 0; higher is better. "The Gull." matches "gull"; "the Gull, I think" does not (Rajpurkar et al. 2016).
"""

from __future__ import annotations

from app.schemas.answer import Answer
from corpus.schema import Question
from experiments.metrics.metric import Metric
from experiments.metrics.normalisation import best_over_answers


def score(answer: Answer, question: Question) -> float:
    """Return 1 if the normalised answer equals a normalised accepted spelling, else 0."""
    return best_over_answers(lambda predicted, gold: float(predicted == gold), answer.answer, question)


EXACT_MATCH = Metric("exact_match", "Exact match", "%", higher_is_better=True, score=score)
