"""What a report is made from: the files of a finished run, read and checked.

results.json                   experiments.results.Results
answers.jsonl                  experiments.records.AnswerRecord, one a line
scores.jsonl                   experiments.records.ScoreRecord, one a line
corpora/main/questions.jsonl   corpus.schema.Question, one a line
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from corpus.schema import Question
from experiments.errors import RunDamaged, RunNotFound
from experiments.records import AnswerRecord, QuestionSet, ScoreRecord
from experiments.results import Results
from experiments.run_folder import read_lines

Key = tuple[str, QuestionSet, str]
"""Arm, question set, question id."""


@dataclass(frozen=True)
class RunInputs:
    """The figures of a run and the records behind them, by arm, question set and question id."""

    results: Results
    answers: dict[Key, AnswerRecord]
    scores: dict[Key, ScoreRecord]
    questions: dict[str, Question]

    def score(self, key: Key, metric: str) -> float | None:
        """Return one metric of one answer; None where it is unscored or the metric does not apply."""
        record = self.scores.get(key)
        return record.scores.get(metric) if record and record.scores is not None else None


def read_inputs(run: Path) -> RunInputs:
    """Read the files of the run folder.

    Raises:
        RunNotFound: There is no such folder.
        RunDamaged: A file is missing or malformed; the message names it and the remedy.
    """
    if not run.is_dir():
        raise RunNotFound(f"There is no run folder {run}. `openbook experiment list` shows the runs there are.")
    answers = read_lines(run / "answers.jsonl", AnswerRecord)
    scores = read_lines(run / "scores.jsonl", ScoreRecord)
    questions = read_lines(run / "corpora" / "main" / "questions.jsonl", Question)
    return RunInputs(
        results=_read_results(run / "results.json"),
        # A resumed run may hold a question twice; its last line counts.
        answers={(record.arm, record.set, record.question_id): record for record in answers},
        scores={(record.arm, record.set, record.question_id): record for record in scores},
        questions={question.id: question for question in questions},
    )


def _read_results(path: Path) -> Results:
    remedy = "`openbook report RUN` writes it again from the answers."
    try:
        return Results.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RunDamaged(f"{path} cannot be read: {error}. {remedy}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise RunDamaged(f"{path} holds no results: {field} {first['msg']}. {remedy}") from error
