"""The gate on unanswered questions: an arm that failed on many was measured on the rest, which may be the easy ones."""

from __future__ import annotations

from experiments.results import Gate
from experiments.run_data import RunData

MOST_ERRORS = 0.05
"""Share of an arm's questions that may have failed."""


def errors(run: RunData) -> Gate:
    """Pass if no arm failed on more than 5 % of its test questions."""
    shares = {arm: _failed(run, arm) / max(len(run.answers["test"].get(arm, {})), 1) for arm in run.spec.arms}
    above = {arm: share for arm, share in shares.items() if share > MOST_ERRORS}
    if above:
        listed = ", ".join(f"{arm} {share:.0%} (first: {_first_error(run, arm)})" for arm, share in above.items())
        return Gate(name="errors", passed=False, detail=f"More than {MOST_ERRORS:.0%} unanswered: {listed}.")
    failed = sum(_failed(run, arm) for arm in run.spec.arms)
    return Gate(name="errors", passed=True, detail=f"{failed} unanswered questions in all arms together.")


def _failed(run: RunData, arm: str) -> int:
    return sum(record.answer is None for record in run.answers["test"].get(arm, {}).values())


def _first_error(run: RunData, arm: str) -> str:
    records = run.answers["test"][arm].values()
    return next(record.error or "unknown" for record in records if record.answer is None)
