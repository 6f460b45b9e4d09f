"""The arms of a run as the reports show them: what each is, in one line, and in which order.

An arm belongs to one of four families, which have a colour and a marker of their own:

    search      the base model is shown passages found by search
    tuned       a fine-tuned model answers from memory
    both        a fine-tuned model is shown passages found by search
    reference   no contender but a yardstick: memory alone, the right passage given, passages of other documents
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from experiments.report import words
from experiments.results import ArmResult, Contrast, Estimate, Results

Family = Literal["search", "tuned", "both", "reference"]


@dataclass(frozen=True)
class Arm:
    """An arm with its figures and the words for it."""

    name: str
    family: Family
    role: str
    """A few words for a chart: `2 passages found by search`."""
    description: str
    """One sentence for the person who decides."""
    result: ArmResult

    def estimate(self, metric: str) -> Estimate | None:
        """Return a metric that is there and is a number."""
        estimate = self.result.metrics.get(metric)
        return estimate if estimate and self.result.scored and math.isfinite(estimate.value) else None


def describe_arms(results: Results) -> tuple[Arm, ...]:
    """Return the arms, the best on the primary metric first and those without a score last."""
    home = _home_collection(results.arms)
    arms = [_describe(name, result, home) for name, result in results.arms.items()]
    return tuple(sorted(arms, key=lambda arm: _rank(arm, results.primary_metric)))


def primary_contrast(results: Results) -> Contrast | None:
    """Return the comparison that was declared in advance, else the first."""
    declared = [contrast for contrast in results.contrasts if contrast.primary]
    return next(iter([*declared, *results.contrasts]), None)


def is_tuned(result: ArmResult) -> bool:
    """Tell whether the arm's checkpoint was fine-tuned for the run: only then has it been trained."""
    return result.cost.training_seconds is not None


def _rank(arm: Arm, metric: str) -> tuple[bool, float]:
    estimate = arm.estimate(metric)
    return (estimate is None, -estimate.value if estimate else 0.0)


def _home_collection(arms: Mapping[str, ArmResult]) -> str:
    """Return the collection that most arms use: another one is a control."""
    counts = Counter(result.collection for result in arms.values())
    return counts.most_common(1)[0][0] if counts else ""


def _describe(name: str, result: ArmResult, home: str) -> Arm:
    tuned = is_tuned(result)
    shown = words.quantity(result.top_k, "passage")
    model = "The model fine-tuned on the documents" if tuned else "The base model"
    if result.retriever == "none":
        role = "fine-tuned, from memory" if tuned else "from memory alone"
        description = f"{model} answers from memory; it is shown no passages."
        return Arm(name, "tuned" if tuned else "reference", role, description, result)
    if result.retriever in ("given", "oracle"):
        role = "fine-tuned, right passage given" if tuned else "right passage given"
        description = f"{model} is given the passage that holds the answer: the most that any search could do."
        return Arm(name, "reference", role, description, result)
    if result.collection != home:
        role = "passages of other documents"
        description = f"{model} is shown {shown} from other documents: a control that should fail."
        return Arm(name, "reference", role, description, result)
    role = f"fine-tuned, {shown} found" if tuned else f"{shown} found by search"
    nearest = "passage" if result.top_k == 1 else shown
    description = f"{model} is shown the {nearest} that search finds nearest to the question."
    return Arm(name, "both" if tuned else "search", role, description, result)
