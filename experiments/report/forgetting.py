"""What fine-tuning made the model forget: the `forgetting` trial as the reports show it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from experiments.results import Estimate, Results, Trial

TRIAL = "forgetting"


@dataclass(frozen=True)
class Forgetting:
    """General knowledge before and after fine-tuning."""

    before: Estimate
    after: Estimate
    trial: Trial


def measured_forgetting(results: Results) -> Forgetting | None:
    """Return the trial's figures; None where the run has no such trial or it measured nothing."""
    trial = results.trials.get(TRIAL)
    if trial is None or "before" not in trial.measured or "after" not in trial.measured:
        return None
    return Forgetting(_estimate(trial.measured["before"]), _estimate(trial.measured["after"]), trial)


def _estimate(value: float | Estimate) -> Estimate:
    """Return a bare number as an estimate whose interval is unknown."""
    return value if isinstance(value, Estimate) else Estimate(value=value, low=math.nan, high=math.nan)
