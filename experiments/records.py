"""The lines of `answers.jsonl` and `scores.jsonl`: what each stage of a run leaves for the next.

answers.jsonl   one AnswerRecord for each arm and question, appended as answers arrive; the run resumes from it
scores.jsonl    one ScoreRecord for each AnswerRecord, computed from answers and corpus alone
"""

from __future__ import annotations

from typing import Literal

from app.schemas.answer import Answer
from app.schemas.schema import Schema

QuestionSet = Literal["test", "panel", "again"]
"""`test`: the corpus's test questions. `panel`: general knowledge, asked without passages. `again`: some of the test
questions, asked a second time to see how far the scores move by themselves."""


class AnswerRecord(Schema):
    """What one arm answered to one question, or why it did not."""

    arm: str
    set: QuestionSet
    question_id: str
    answer: Answer | None
    error: str | None = None
    """The reason where `answer` is None. Such a question is unscored and counted, never averaged as 0."""
    latency_ms: float | None = None
    """Milliseconds from sending the request to its answer, seen by the client."""


class ScoreRecord(Schema):
    """Every metric of one answer."""

    arm: str
    set: QuestionSet
    question_id: str
    scores: dict[str, float] | None
    """Metric to value; None where the question is unscored. A metric that does not apply is left out."""
