"""A run in memory: what scoring, comparing and summarising read. Nothing here asks, waits or looks at the clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from corpus.schema import Corpus, Question
from experiments.records import AnswerRecord, QuestionSet, ScoreRecord
from experiments.run_folder import RunFolder, RunState, read_lines, write_lines
from experiments.score import score_answers
from experiments.spec import Spec

BASE, FINETUNED = "base", "finetuned"
"""The two that answer the panel."""


@dataclass(frozen=True)
class RunData:
    """Everything that a run has produced."""

    spec: Spec
    state: RunState
    corpus: Corpus
    panel: tuple[Question, ...]
    answers: Mapping[QuestionSet, Mapping[str, Mapping[str, AnswerRecord]]]
    """Question set to arm to question id; in the corpus's order."""
    scores: Mapping[QuestionSet, Mapping[str, Mapping[str, Mapping[str, float]]]]
    """Question set to arm to question id to metric, unscored questions left out; in the corpus's order."""

    @property
    def clusters(self) -> Mapping[str, str]:
        """Test question to its cluster."""
        return {question.id: cluster_of(question) for question in self.corpus.split("test")}


def cluster_of(question: Question) -> str:
    """Return what the question shares with others that stand or fall with it: its fact, or else its document."""
    if question.fact_id is not None:
        return f"fact {question.fact_id}"
    return f"document {question.document_ids[0]}" if question.document_ids else f"question {question.id}"


def score_run(folder: RunFolder) -> RunData:
    """Read a run's artefacts, score its answers, write `scores.jsonl` and return all of it.

    Raises:
        RunDamaged: An artefact is missing or malformed.
    """
    state = folder.read_state()
    assert state is not None
    corpus, panel = folder.read_corpus("main"), folder.read_corpus("panel").questions
    questions: dict[QuestionSet, dict[str, Question]] = {
        "test": {question.id: question for question in corpus.split("test")},
        "panel": {question.id: question for question in panel},
    }
    questions["again"] = questions["test"]
    answers = read_lines(folder.answers, AnswerRecord)
    scores = score_answers(answers, questions)
    write_lines(folder.scores, scores)
    return RunData(
        spec=folder.read_spec(),
        state=state,
        corpus=corpus,
        panel=panel,
        answers=_answers_by_arm(answers, questions),
        scores=_scores_by_arm(scores, questions),
    )


def _answers_by_arm(
    records: list[AnswerRecord], questions: Mapping[QuestionSet, Mapping[str, Question]]
) -> dict[QuestionSet, dict[str, dict[str, AnswerRecord]]]:
    found = {(record.set, record.arm, record.question_id): record for record in records}
    arms = sorted({(record.set, record.arm) for record in records})
    table: dict[QuestionSet, dict[str, dict[str, AnswerRecord]]] = {"test": {}, "panel": {}, "again": {}}
    for which, arm in arms:
        table[which][arm] = {id: found[which, arm, id] for id in questions[which] if (which, arm, id) in found}
    return table


def _scores_by_arm(
    records: tuple[ScoreRecord, ...], questions: Mapping[QuestionSet, Mapping[str, Question]]
) -> dict[QuestionSet, dict[str, dict[str, Mapping[str, float]]]]:
    found = {(record.set, record.arm, record.question_id): record.scores for record in records}
    arms = sorted({(record.set, record.arm) for record in records})
    table: dict[QuestionSet, dict[str, dict[str, Mapping[str, float]]]] = {"test": {}, "panel": {}, "again": {}}
    for which, arm in arms:
        scored = ((id, found.get((which, arm, id))) for id in questions[which])
        table[which][arm] = {id: scores for id, scores in scored if scores is not None}
    return table
