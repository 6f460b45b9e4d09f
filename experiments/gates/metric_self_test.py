"""The gate on the yardstick: every accepted answer must get full marks, and an empty answer none."""

from __future__ import annotations

from corpus.schema import Question
from experiments.metrics.contains_answer import contains
from experiments.metrics.normalisation import require_scorable, tokens
from experiments.metrics.token_f1 import f1
from experiments.results import Gate
from experiments.run_data import RunData


def metric_self_test(run: RunData) -> Gate:
    """Pass if every accepted spelling of every question scores 1 against itself and an empty answer scores 0."""
    questions = (*run.corpus.split("test"), *run.panel)
    wrong = [question.id for question in questions if not _is_scored_fairly(question)]
    if wrong:
        return Gate(name="metric_self_test", passed=False, detail=f"Scored wrongly against itself: {', '.join(wrong)}.")
    spellings = sum(len(question.answers) for question in questions)
    detail = f"All {spellings} accepted answers of {len(questions)} questions score 1, and an empty answer 0."
    return Gate(name="metric_self_test", passed=True, detail=detail)


def require_scorable_questions(questions: tuple[Question, ...]) -> None:
    """Stop a run before it asks a question that cannot be scored.

    Raises:
        SpecError: An accepted answer normalises to nothing.
    """
    for question in questions:
        require_scorable(question)


def _is_scored_fairly(question: Question) -> bool:
    golds = [tokens(answer) for answer in question.answers]
    return all(contains(gold, gold) and f1(gold, gold) == 1 and not contains((), gold) and gold for gold in golds)
