"""What fine-tuning made the model forget: the `forgetting` trial as the reports show it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from experiments.report import words
from experiments.report.examples import panel_questions
from experiments.report.inputs import RunInputs
from experiments.results import Estimate, Trial

TRIAL = "forgetting"


@dataclass(frozen=True)
class Forgetting:
    """General knowledge before and after fine-tuning."""

    before: Estimate
    after: Estimate
    questions: int
    """How many were asked."""
    trial: Trial

    @property
    def caption(self) -> str:
        """What was asked, the paired difference where the trial has one, and the trial's verdict."""
        asked = f"{words.quantity(self.questions, 'question')} of general knowledge, asked without passages."
        difference = self.trial.measured.get("difference")
        if not isinstance(difference, Estimate):
            return f"{asked} Verdict: {self.trial.verdict}."
        change = f"{words.points(difference.value)} points"
        ends = f"{words.points(difference.low)} to {words.points(difference.high)}"
        return f"{asked} Difference: {change} (95 % interval {ends}). Verdict: {self.trial.verdict}."


def measured_forgetting(run: RunInputs) -> Forgetting | None:
    """Return the trial's figures; None where the run has no such trial or it measured nothing."""
    trial = run.results.trials.get(TRIAL)
    if trial is None or "before" not in trial.measured or "after" not in trial.measured:
        return None
    return Forgetting(
        _estimate(trial.measured["before"]), _estimate(trial.measured["after"]), len(panel_questions(run)), trial
    )


def _estimate(value: float | Estimate) -> Estimate:
    """Return a bare number as an estimate whose interval is unknown."""
    return value if isinstance(value, Estimate) else Estimate(value=value, low=math.nan, high=math.nan)
