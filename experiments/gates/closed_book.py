"""The gate on what the base knows already: where it answers most questions without passages, no arm can show anything.

Public texts that every model has read are the usual case (a published comparison found its base at 75.7 % closed-book
and had to replace its corpus).
"""

from __future__ import annotations

from experiments.results import Gate
from experiments.run_data import RunData
from experiments.verdict import percent

MOST_KNOWN = 0.5


def closed_book(run: RunData) -> Gate:
    """Pass if the base, without passages, is right on fewer than half of the questions by the primary metric."""
    arm = next(
        (name for name, arm in run.spec.arms.items() if (arm.checkpoint, arm.retriever) == ("base", "none")), None
    )
    metric = run.spec.primary.metric
    known = [scores[metric] for scores in run.scores["test"].get(arm or "", {}).values() if metric in scores]
    if not known:
        return Gate(name="closed_book", passed=True, detail="Not measured: no arm asks the base without passages.")
    share = sum(known) / len(known)
    says = f"The base already knows {percent(share)} without passages"
    if share < MOST_KNOWN:
        return Gate(name="closed_book", passed=True, detail=f"{says}, so the arms can differ.")
    return Gate(name="closed_book", passed=False, detail=f"{says}: the corpus is no news to it and compares little.")
