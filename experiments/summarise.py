"""Summarising: a run's data in, `results.json` out. Pure: the same bytes in, the same bytes out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.schemas.answer import Answer
from experiments.compare import compare
from experiments.cost import arm_cost, cost_summary
from experiments.gates import GATES
from experiments.metrics import METRICS
from experiments.records import AnswerRecord
from experiments.results import ArmResult, CorpusSummary, Estimate, Latency, Results, Tokens
from experiments.run_data import RunData
from experiments.statistics.estimates import mean_estimate
from experiments.trials import TRIALS
from experiments.verdict import verdict


def summarise(run: RunData) -> Results:
    """Return everything that other programs read of a run."""
    arms = {name: arm_result(run, name) for name in run.spec.arms}
    contrasts = compare(run)
    gates = tuple(gate(run) for gate in GATES.values())
    trials = {name: outcome for name, trial in TRIALS.items() if (outcome := trial(run)) is not None}
    return Results(
        experiment=run.spec.name,
        created=run.state.last_answer or "",
        command=run.state.command,
        primary_metric=run.spec.primary.metric,
        verdict=verdict(run.spec, arms, contrasts, gates, trials),
        environment=run.state.environment,
        corpus=CorpusSummary(
            name=run.corpus.name,
            documents=len(run.corpus.documents),
            questions=len(run.corpus.split("test")),
            hash=run.corpus.documents_hash,
        ),
        arms=arms,
        contrasts=contrasts,
        gates=gates,
        trials=trials,
        cost=cost_summary(run),
    )


def arm_result(run: RunData, name: str) -> ArmResult:
    """Return one arm's figures over its test questions."""
    arm = run.spec.arms[name]
    records = list(run.answers["test"].get(name, {}).values())
    answers = [record.answer for record in records if record.answer is not None]
    card = run.state.finetuned
    own = card.label if arm.checkpoint == "finetuned" and card else run.state.base
    return ArmResult(
        checkpoint=answers[0].checkpoint if answers else own or "",
        retriever=arm.retriever,
        prompt=answers[0].prompt if answers else arm.prompt or "",
        top_k={"none": 0, "oracle": 1}.get(arm.retriever, arm.top_k),
        collection=arm.corpus,
        n=len(run.corpus.split("test")),
        scored=len(answers),
        metrics=_metrics(run, name),
        latency_ms=_latency(records),
        tokens=_tokens(answers),
        cost=arm_cost(run, name),
    )


def _metrics(run: RunData, arm: str) -> dict[str, Estimate]:
    clusters = run.clusters
    estimates = {}
    for metric in METRICS:
        scores = run.scores["test"].get(arm, {})
        values = {question: scores[question][metric] for question in scores if metric in scores[question]}
        if values:
            estimates[metric] = mean_estimate(list(values.values()), [clusters[question] for question in values])
    return estimates


def _latency(records: Sequence[AnswerRecord]) -> Latency:
    """Return percentiles by linear interpolation; 0 where nothing was answered."""
    measured = [record.latency_ms for record in records if record.answer is not None and record.latency_ms is not None]
    p50, p95 = np.percentile(measured, (50, 95)) if measured else (0.0, 0.0)
    return Latency(p50=round(float(p50), 1), p95=round(float(p95), 1))


def _tokens(answers: Sequence[Answer]) -> Tokens:
    count = max(len(answers), 1)
    return Tokens(
        prompt=round(sum(answer.usage.prompt_tokens for answer in answers) / count, 1),
        completion=round(sum(answer.usage.completion_tokens for answer in answers) / count, 1),
    )
