"""The gate on identity: every arm was answered by the checkpoint that it is about, as each answer says itself."""

from __future__ import annotations

from experiments.records import QuestionSet
from experiments.results import Gate
from experiments.run_data import BASE, FINETUNED, RunData


def served_checkpoints(run: RunData) -> Gate:
    """Pass if base arms were answered by the base alone, and fine-tuned ones by the fine-tuned checkpoint alone."""
    card = run.state.finetuned
    expected = {"base": run.state.base, "finetuned": card.label if card else None}
    served = {arm: _labels(run, "test", arm) - {expected[run.spec.arms[arm].checkpoint]} for arm in run.spec.arms}
    served["panel before"] = _labels(run, "panel", BASE) - {expected["base"]}
    served["panel after"] = _labels(run, "panel", FINETUNED) - {expected["finetuned"]}
    strangers = [f"{arm} by {', '.join(sorted(labels))}" for arm, labels in served.items() if labels]
    if strangers:
        detail = f"Answered by another checkpoint than the arm's own: {'; '.join(strangers)}."
        return Gate(name="served_checkpoints", passed=False, detail=detail)
    names = " and ".join(label for label in expected.values() if label)
    return Gate(
        name="served_checkpoints", passed=True, detail=f"Every arm was answered by its own checkpoint: {names}."
    )


def _labels(run: RunData, which: QuestionSet, arm: str) -> set[str]:
    records = run.answers[which].get(arm, {}).values()
    return {record.answer.checkpoint for record in records if record.answer is not None}
