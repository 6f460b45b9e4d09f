"""What is left to ask, and the requests that ask it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from app.schemas.answer import AnswerRequest
from app.schemas.arm import RetrieverName
from corpus.schema import Question
from experiments.answer_log import Pair
from experiments.asking import Ask
from experiments.corpora import Corpora
from experiments.oracle import Oracle
from experiments.records import AnswerRecord, QuestionSet
from experiments.run_data import BASE, FINETUNED
from experiments.spec import Arm, CorpusName, Spec

ASKED_AGAIN = 40
"""Test questions that the two arms of the primary contrast are asked twice."""


@dataclass(frozen=True)
class Batch:
    """The questions that one arm has not been asked yet."""

    set: QuestionSet
    name: str
    """The arm; for the panel the checkpoint."""
    arm: Arm
    questions: tuple[Question, ...]


def remaining_batches(spec: Spec, corpora: Corpora, checkpoint: str, done: Collection[Pair]) -> tuple[Batch, ...]:
    """Return what is left to ask a checkpoint: its arms, the sample asked again, the panel where it fine-tunes."""
    asked: list[tuple[QuestionSet, str, Arm, Sequence[Question]]] = [
        ("test", name, arm, corpora.main.split("test"))
        for name, arm in spec.arms.items()
        if arm.checkpoint == checkpoint
    ]
    asked += [
        ("again", name, arm, _sample(corpora.main.split("test")))
        for name, arm in spec.arms.items()
        if arm.checkpoint == checkpoint and name in (spec.primary.a, spec.primary.b)
    ]
    if spec.finetuned_arms:
        name = BASE if checkpoint == "base" else FINETUNED
        asked.append(("panel", name, Arm(retriever="none"), corpora.panel.questions))
    batches = []
    for which, name, arm, questions in asked:
        left = tuple(question for question in questions if (which, name, question.id) not in done)
        if left:
            batches.append(Batch(which, name, arm, left))
    return tuple(batches)


def _sample(questions: Sequence[Question]) -> Sequence[Question]:
    """Return questions from all over the corpus, `ASKED_AGAIN` at most."""
    return questions[:: -(-len(questions) // ASKED_AGAIN) or 1]


def asks_of(batch: Batch, oracles: Mapping[CorpusName, Oracle]) -> tuple[list[Ask], list[AnswerRecord]]:
    """Return a batch's requests, and a record for each question that cannot be asked.

    Questions about one document follow each other, so that the engine finds the start of their prompts in its cache.
    """
    asks, refused = [], []
    for question in sorted(batch.questions, key=lambda question: (question.document_ids, question.id)):
        passage = oracles[batch.arm.corpus].passage(question) if batch.arm.retriever == "oracle" else None
        if batch.arm.retriever == "oracle" and passage is None:
            refused.append(_without_evidence(batch, question))
            continue
        passages = () if passage is None else (passage,)
        options = batch.arm.options().model_dump()
        request = AnswerRequest(
            **options, question=question.question, collection=batch.arm.corpus, passage_ids=passages
        )
        asks.append(Ask(batch.name, batch.set, question.id, request))
    return asks, refused


def warm_up(batch: Batch) -> Ask:
    """Return a request of the batch's kind whose answer nobody needs."""
    retriever: RetrieverName = "dense" if batch.arm.retriever == "oracle" else batch.arm.retriever
    request = AnswerRequest(question="Is everything ready?", retriever=retriever, collection=batch.arm.corpus)
    return Ask(batch.name, batch.set, "warm-up", request)


def _without_evidence(batch: Batch, question: Question) -> AnswerRecord:
    reason = "the question names no evidence document, so there is no right passage to give"
    return AnswerRecord(arm=batch.name, set=batch.set, question_id=question.id, answer=None, error=reason)
