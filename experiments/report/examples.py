"""Questions shown in full: where arms disagree, where search missed, where all failed, and what was forgotten.

Nobody picks them by hand: within each kind they come in the order of the SHA-256 of their ids, which has nothing to do
with their content and is the same in every report of the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from app.schemas.passage import Passage
from corpus.schema import Question
from experiments.records import AnswerRecord, QuestionSet
from experiments.report.arms import Arm
from experiments.report.inputs import RunInputs
from experiments.results import Contrast
from experiments.run_data import BASE, FINETUNED

PER_KIND = 2
FORGOTTEN = 5
RIGHT_FROM = 0.5
"""From this value on a graded metric counts as right; a metric of 0 and 1 is unaffected."""

Outcome = Literal["right", "wrong", "unscored"]


@dataclass(frozen=True)
class ArmAnswer:
    """What an arm said."""

    arm: str
    family: str
    outcome: Outcome
    text: str
    """The answer, or the reason why there is none."""


@dataclass(frozen=True)
class Shown:
    """The passages that some arms were shown."""

    arms: tuple[str, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Example:
    """A question with every arm's answer."""

    kind: str
    question: Question
    answers: tuple[ArmAnswer, ...]
    shown: tuple[Shown, ...]


@dataclass(frozen=True)
class Forgotten:
    """A question of general knowledge that was answered before fine-tuning and not after it."""

    question: str
    before: str
    after: str


Outcomes = dict[str, Outcome]
"""Arm to what became of one question."""


def choose_examples(run: RunInputs, arms: Sequence[Arm], contrast: Contrast | None) -> tuple[Example, ...]:
    """Return up to two questions of each kind; none is shown twice."""
    outcomes = {question_id: _outcomes(run, arms, question_id) for question_id in _hash_order(run.questions)}
    chosen: dict[str, str] = {}
    for kind, belongs in _kinds(run, arms, contrast):
        fitting = (key for key, each in outcomes.items() if key not in chosen and belongs(key, each))
        chosen.update({key: kind for key, _ in zip(fitting, range(PER_KIND), strict=False)})
    return tuple(_example(run, arms, key, kind, outcomes[key]) for key, kind in chosen.items())


def choose_forgotten(run: RunInputs) -> tuple[Forgotten, ...]:
    """Return some of the panel's questions that the base model got right and the fine-tuned one did not."""
    lost = [
        question_id
        for question_id in _hash_order(panel_questions(run))
        if _outcome(run, BASE, "panel", question_id) == "right"
        and _outcome(run, FINETUNED, "panel", question_id) == "wrong"
    ]
    return tuple(_forgotten(run, question_id) for question_id in lost[:FORGOTTEN])


def panel_questions(run: RunInputs) -> set[str]:
    """Return the ids of the panel's questions that were asked before and after fine-tuning."""
    asked = {
        arm: {question_id for each, question_set, question_id in run.answers if (each, question_set) == (arm, "panel")}
        for arm in (BASE, FINETUNED)
    }
    return asked[BASE] & asked[FINETUNED]


def _kinds(
    run: RunInputs, arms: Sequence[Arm], contrast: Contrast | None
) -> list[tuple[str, Callable[[str, Outcomes], bool]]]:
    """Return the kinds of examples, each with a test of a question's id and outcomes."""
    kinds: list[tuple[str, Callable[[str, Outcomes], bool]]] = []
    if contrast is not None:
        for right, wrong in ((contrast.a, contrast.b), (contrast.b, contrast.a)):
            kinds.append((f"{right} right, {wrong} wrong", _only(right, wrong)))
    searching = next((arm.name for arm in arms if arm.family == "search"), None)
    if searching is not None:
        kinds.append(("Search missed the passage", lambda key, _: _missed(run, searching, key)))
    kinds.append(("Every arm wrong", lambda _, each: set(each.values()) == {"wrong"}))
    return kinds


def _only(right: str, wrong: str) -> Callable[[str, Outcomes], bool]:
    return lambda _, outcomes: outcomes.get(right) == "right" and outcomes.get(wrong) == "wrong"


def _missed(run: RunInputs, arm: str, question_id: str) -> bool:
    return run.score((arm, "test", question_id), "retrieval_recall") == 0


def _outcomes(run: RunInputs, arms: Sequence[Arm], question_id: str) -> Outcomes:
    asked = [arm.name for arm in arms if (arm.name, "test", question_id) in run.answers]
    return {arm: _outcome(run, arm, "test", question_id) for arm in asked}


def _outcome(run: RunInputs, arm: str, question_set: QuestionSet, question_id: str) -> Outcome:
    score = run.score((arm, question_set, question_id), run.results.primary_metric)
    if score is None:
        return "unscored"
    return "right" if score >= RIGHT_FROM else "wrong"


def _example(run: RunInputs, arms: Sequence[Arm], question_id: str, kind: str, outcomes: Outcomes) -> Example:
    families = {arm.name: arm.family for arm in arms}
    records = {arm: run.answers[arm, "test", question_id] for arm in outcomes}
    answers = tuple(ArmAnswer(arm, families[arm], outcome, _said(records[arm])) for arm, outcome in outcomes.items())
    return Example(kind, run.questions[question_id], answers, _shown(records))


def _said(record: AnswerRecord) -> str:
    if record.answer is None:
        return record.error or "no answer"
    return record.answer.answer.strip() or "(empty answer)"


def _shown(records: dict[str, AnswerRecord]) -> tuple[Shown, ...]:
    """Return the passages that were shown, those that several arms share only once."""
    shown: dict[tuple[str, ...], Shown] = {}
    for arm, record in records.items():
        passages = record.answer.passages if record.answer else ()
        if passages:
            key = tuple(passage.text for passage in passages)
            shown[key] = Shown((*(shown[key].arms if key in shown else ()), arm), passages)
    return tuple(shown.values())


def _forgotten(run: RunInputs, question_id: str) -> Forgotten:
    was, became = (run.answers[arm, "panel", question_id] for arm in (BASE, FINETUNED))
    return Forgotten(was.answer.question if was.answer else question_id, _said(was), _said(became))


def _hash_order(ids: Iterable[str]) -> list[str]:
    return sorted(ids, key=lambda each: hashlib.sha256(each.encode("utf-8")).digest())
