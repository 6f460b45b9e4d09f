"""Scoring: answers and corpus in, `scores.jsonl` out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from corpus.schema import Question
from experiments.metrics import METRICS
from experiments.records import AnswerRecord, QuestionSet, ScoreRecord


def score_answers(
    answers: Iterable[AnswerRecord], questions: Mapping[QuestionSet, Mapping[str, Question]]
) -> tuple[ScoreRecord, ...]:
    """Return the scores of every answer, ordered by question set, arm and question id.

    Args:
        answers: In any order; answers to questions that are not in `questions` are left out.
        questions: Question set to the questions asked, by id.
    """
    scored = [
        score_answer(record, questions[record.set][record.question_id])
        for record in answers
        if record.question_id in questions[record.set]
    ]
    return tuple(sorted(scored, key=lambda record: (record.set, record.arm, record.question_id)))


def score_answer(record: AnswerRecord, question: Question) -> ScoreRecord:
    """Return every metric that applies to one answer; none where there is no answer.

    What the server says where it found nothing to answer from is no answer to the question: it scores as an empty one.
    """
    scores: dict[str, float] | None = None
    if record.answer is not None:
        answer = record.answer if record.answer.answerable else record.answer.model_copy(update={"answer": ""})
        values = {name: metric.score(answer, question) for name, metric in METRICS.items()}
        scores = {name: value for name, value in values.items() if value is not None}
    return ScoreRecord(arm=record.arm, set=record.set, question_id=record.question_id, scores=scores)
