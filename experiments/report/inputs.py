"""What a report is made from: the files of a finished run, read and checked.

results.json                   experiments.results.Results
answers.jsonl                  experiments.records.AnswerRecord, one a line
scores.jsonl                   experiments.records.ScoreRecord, one a line
corpora/main/questions.jsonl   corpus.schema.Question, one a line
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from corpus.schema import Question
from experiments.errors import RunDamaged, RunNotFound
from experiments.records import AnswerRecord, QuestionSet, ScoreRecord
from experiments.results import Results

Line = TypeVar("Line", bound=BaseModel)
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
        RunDamaged: A file is missing or malformed. The message names the file, the line and the remedy.
    """
    if not run.is_dir():
        raise RunNotFound(f"There is no run folder {run}. `openbook experiment list` shows the runs there are.")
    answers = _read_lines(run / "answers.jsonl", AnswerRecord)
    scores = _read_lines(run / "scores.jsonl", ScoreRecord)
    questions = _read_lines(run / "corpora" / "main" / "questions.jsonl", Question)
    return RunInputs(
        results=_parse(Results, _read_text(run / "results.json"), run / "results.json"),
        # A resumed run may hold a question twice; its last line counts.
        answers={(record.arm, record.set, record.question_id): record for record in answers},
        scores={(record.arm, record.set, record.question_id): record for record in scores},
        questions={question.id: question for question in questions},
    )


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RunDamaged(f"{path} is missing. {_remedy(path)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RunDamaged(f"{path} cannot be read: {error}. {_remedy(path)}") from error


def _read_lines(path: Path, model: type[Line]) -> list[Line]:
    # Not splitlines(): it would break a line at U+2028, which JSON allows inside a string.
    lines = _read_text(path).split("\n")
    return [_parse(model, line, path, number) for number, line in enumerate(lines, 1) if line.strip()]


def _parse(model: type[Line], text: str, path: Path, number: int | None = None) -> Line:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = f"{path}, line {number}" if number else str(path)
        field = ".".join(map(str, first["loc"]))
        what = f"{field}: {first['msg']}" if field else first["msg"]
        raise RunDamaged(f"{where} is not a valid {model.__name__}: {what}. {_remedy(path)}") from error


def _remedy(path: Path) -> str:
    if path.name == "questions.jsonl":
        return "Run the experiment again with `openbook experiment run SPEC --fresh`: it copies the corpus anew."
    return "Run the experiment again with `openbook experiment run SPEC`: it goes on where it stopped."
