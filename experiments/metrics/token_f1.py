"""Token F1: how much of the answer is right, and how much of what is right was said.

With c words in common (counted with repetitions), precision p = c / words of the answer and recall r = c / words of the
accepted spelling, F1 = 2pr / (p + r): 0 to 1, higher is better. "captain Ida Brook" against "Ida Brook": p = 2/3,
r = 1, F1 = 0.8. The best over the accepted spellings counts (Rajpurkar et al. 2016).
"""

from __future__ import annotations

from collections import Counter

from app.schemas.answer import Answer
from corpus.schema import Question
from experiments.metrics.metric import Metric
from experiments.metrics.normalisation import best_over_answers


def f1(predicted: tuple[str, ...], gold: tuple[str, ...]) -> float:
    """Return the F1 of two lists of words, whatever their order."""
    common = sum((Counter(predicted) & Counter(gold)).values())
    return 2 * common / (len(predicted) + len(gold)) if common else 0.0


def score(answer: Answer, question: Question) -> float:
    """Return the best token F1 over the accepted spellings."""
    return best_over_answers(f1, answer.answer, question)


TOKEN_F1 = Metric("token_f1", "Token F1", "%", higher_is_better=True, score=score)
