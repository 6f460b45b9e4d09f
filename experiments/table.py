"""The verdict table that a run prints: arms by metrics, within 100 columns."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.columns import aligned
from experiments.metrics import METRICS
from experiments.results import ArmResult, Estimate, Results

WIDTH = 100


def verdict_table(results: Results) -> str:
    """Return the table, the failed gates and the verdict, ready to print."""
    currency = results.cost.currency
    metrics = [results.primary_metric, *(name for name in METRICS if name != results.primary_metric)]
    heading = ["arm", *(METRICS[name].label for name in metrics), "p50 ms", "p95 ms", f"{currency}/1000"]
    rows = [_row(name, arm, metrics) for name, arm in results.arms.items()]
    questions = results.corpus.questions
    lines = [
        f"{results.experiment}: {questions} questions on {results.corpus.documents} documents, % (95 % interval)",
        "",
        *aligned([heading, *rows]),
        "",
        *(f"Gate failed: {gate.name}. {gate.detail}" for gate in results.gates if not gate.passed),
        results.verdict,
    ]
    return "\n".join(lines)


def _row(name: str, arm: ArmResult, metrics: Sequence[str]) -> list[str]:
    figures = [_cell(arm.metrics.get(metric)) for metric in metrics]
    money = f"{arm.cost.money_per_1000_questions:.4f}"
    return [name, *figures, f"{arm.latency_ms.p50:.0f}", f"{arm.latency_ms.p95:.0f}", money]


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    return f"{estimate.value * 100:.0f} ({estimate.low * 100:.0f}-{estimate.high * 100:.0f})"
