"""Forgetting: does fine-tuning on the documents cost general knowledge?

The same panel of general questions is asked without passages before and after; an answer counts if it contains an
accepted spelling. The claim is non-inferiority: the loss is smaller than the margin.
"""

from __future__ import annotations

from experiments.results import Estimate, Trial
from experiments.run_data import BASE, FINETUNED, RunData
from experiments.statistics.estimates import difference_estimate, mean_estimate

METRIC = "contains_answer"


def forgetting(run: RunData) -> Trial | None:
    """Return the panel's accuracy before and after fine-tuning, and their paired difference."""
    before, after = run.scores["panel"].get(BASE, {}), run.scores["panel"].get(FINETUNED, {})
    both = [question for question in before if question in after]
    if not both:
        return None
    differences = [after[question][METRIC] - before[question][METRIC] for question in both]
    difference = difference_estimate(differences, both)
    return Trial(
        claim="Fine-tuning on the documents costs no general knowledge.",
        measured={
            "before": mean_estimate([before[question][METRIC] for question in both], both),
            "after": mean_estimate([after[question][METRIC] for question in both], both),
            "difference": difference,
        },
        expected=f"The interval of the difference lies above -{run.spec.margin * 100:g} points.",
        verdict=_verdict(difference, run.spec.margin),
    )


def _verdict(difference: Estimate, margin: float) -> str:
    if difference.low > -margin:
        return "kept"
    return "forgotten" if difference.high < 0 else "underpowered"
