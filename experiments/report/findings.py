"""The finding above each chart: one sentence made from the figures, without judging them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from experiments.report import words
from experiments.report.arms import Arm
from experiments.report.costs import Costs
from experiments.report.glossary import describe
from experiments.results import Contrast, Estimate

VERDICTS = {
    "better": "▲ {a} better than {b}",
    "worse": "▲ {b} better than {a}",
    "equivalent": "= {a} and {b} equivalent",
    "underpowered": "? {a} and {b}: underpowered",
}


def verdict(contrast: Contrast) -> str:
    """Say what came of a comparison in a few words."""
    names = {"a": contrast.a, "b": contrast.b}
    return re.sub(r"\{(\w)\}", lambda found: names[found[1]], VERDICTS[contrast.verdict])


def accuracy(arms: Sequence[Arm], contrast: Contrast | None, metric: str) -> str:
    """Say what the two arms of the primary contrast scored, or the best arm where there is no contrast."""
    named = (contrast.a, contrast.b) if contrast else ()
    compared = [arm for arm in arms if arm.name in named] or list(arms[:1])
    scored = [(arm.name, estimate) for arm in compared if (estimate := arm.estimate(metric))]
    if not scored:
        return "No question could be scored"
    phrases = [describe(metric).finding, *[describe(metric).also] * (len(scored) - 1)]
    return ", ".join(
        f"{name} {phrase.replace('{}', words.percent(estimate.value))}"
        for (name, estimate), phrase in zip(scored, phrases, strict=True)
    )


def cost(arms: Sequence[Arm], contrast: Contrast | None, costs: Costs) -> str:
    """Say what the two arms of the primary contrast cost for the first questions, or the best arm."""
    named = (contrast.a, contrast.b) if contrast else ()
    compared = [arm for arm in arms if arm.name in named] or list(arms[:1])
    sums = [(arm.name, costs.shown(costs.first(arm.result.cost))) for arm in compared if arm.result.scored]
    if not sums:
        return "No cost could be measured"
    first, *others = sums
    return ", ".join([f"{first[0]} costs {first[1]}", *(f"{name} {sum_}" for name, sum_ in others)])


def forgetting(before: Estimate, after: Estimate) -> str:
    """Say how general knowledge went from before fine-tuning to after it."""
    was, became = words.percent(before.value), words.percent(after.value)
    if was == became:
        return f"General knowledge stayed at {became}"
    verb = "fell" if after.value < before.value else "rose"
    return f"General knowledge {verb} from {was} to {became}"
