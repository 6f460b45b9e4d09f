"""The gate on constancy: within an arm every question was put in the same way.

An interrupted run may go on after an update of Openbook that worded a prompt anew; half of its answers would then be
about another prompt.
"""

from __future__ import annotations

from experiments.results import Gate
from experiments.run_data import RunData


def one_prompt(run: RunData) -> Gate:
    """Pass if all answers of an arm name the same prompt and version."""
    prompts = {arm: _prompts(run, arm) for arm in run.spec.arms}
    mixed = [f"{arm} ({', '.join(sorted(names))})" for arm, names in prompts.items() if len(names) > 1]
    if mixed:
        detail = f"Asked with more than one prompt: {'; '.join(mixed)}. Run again with --fresh."
        return Gate(name="one_prompt", passed=False, detail=detail)
    names = ", ".join(sorted(set().union(*prompts.values()))) or "none"
    return Gate(name="one_prompt", passed=True, detail=f"Every arm was asked with one prompt; in all: {names}.")


def _prompts(run: RunData, arm: str) -> set[str]:
    records = run.answers["test"].get(arm, {}).values()
    return {record.answer.prompt for record in records if record.answer is not None}
