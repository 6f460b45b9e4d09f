"""Comparing: scores in, contrasts out. Pure.

The primary contrast was declared before the run and stands by itself; the others are corrected for their number by
Holm's method, so that with many comparisons none becomes a find by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from experiments.results import Contrast, Estimate, VerdictWord
from experiments.run_data import RunData
from experiments.spec import Spec
from experiments.statistics.estimates import DECIMALS, difference_estimate, is_binary
from experiments.statistics.multiplicity import holm
from experiments.statistics.paired import mcnemar, sign_flip
from experiments.statistics.power import minimum_detectable_difference

LEVEL = 0.05
NAMED_PAIRS = (
    ("ft_rag", "rag"),
    ("ft", "closed_book"),
    ("rag", "closed_book"),
    ("oracle", "rag"),
    ("rag", "wrong_corpus"),
)
"""Contrasts between the usual arms that every run answers where it has both."""
OTHER_METRICS = ("exact_match", "token_f1", "contains_answer")
"""The primary contrast is repeated on these: a verdict may depend on how strictly an answer is read."""

Plan = tuple[str, str, str]
"""Arm a, arm b and metric."""


@dataclass(frozen=True)
class Pairs:
    """Two arms' scores on the questions that both answered."""

    a: np.ndarray
    b: np.ndarray
    differences: np.ndarray
    """`a` minus `b`, question by question."""
    clusters: tuple[str, ...]


def compare(run: RunData) -> tuple[Contrast, ...]:
    """Return the primary contrast, where both of its arms were scored, and then the others."""
    plans = [plan for plan in planned_contrasts(run.spec) if len(pairs_of(run, plan).clusters)]
    pairs = {plan: pairs_of(run, plan) for plan in plans}
    primary = primary_plan(run.spec)
    p_values = {plan: _p_value(pairs[plan]) for plan in plans}
    secondary = [plan for plan in plans if plan != primary]
    adjusted = dict(zip(secondary, holm([p_values[plan] for plan in secondary]), strict=True))
    return tuple(_contrast(plan, pairs[plan], p_values[plan], adjusted.get(plan), run.spec.margin) for plan in plans)


def primary_plan(spec: Spec) -> Plan:
    """Return the contrast that was declared in advance."""
    return (spec.primary.a, spec.primary.b, spec.primary.metric)


def planned_contrasts(spec: Spec) -> tuple[Plan, ...]:
    """Return every contrast of a specification, the primary one first."""
    a, b, metric = primary_plan(spec)
    named = [(one, other, metric) for one, other in NAMED_PAIRS if one in spec.arms and other in spec.arms]
    repeated = [(a, b, other) for other in OTHER_METRICS]
    return tuple(dict.fromkeys([(a, b, metric), *named, *repeated]))


def pairs_of(run: RunData, plan: Plan) -> Pairs:
    """Return the scores of two arms on the questions where the metric applies to both."""
    a, b = (_values(run, arm, plan[2]) for arm in plan[:2])
    both = [question for question in a if question in b]
    clusters = run.clusters
    scores_a, scores_b = np.array([a[question] for question in both]), np.array([b[question] for question in both])
    return Pairs(scores_a, scores_b, scores_a - scores_b, tuple(clusters[question] for question in both))


def verdict_word(difference: Estimate, margin: float, p_adjusted: float | None) -> VerdictWord:
    """Return what can be said of a difference.

    `better` and `worse` where the interval excludes 0 and, for a contrast among several, Holm's p does as well;
    `equivalent` where the interval lies within the margin on both sides; `underpowered` otherwise.
    """
    confirmed = p_adjusted is None or p_adjusted < LEVEL
    if confirmed and difference.low > 0:
        return "better"
    if confirmed and difference.high < 0:
        return "worse"
    return "equivalent" if -margin < difference.low and difference.high < margin else "underpowered"


def _values(run: RunData, arm: str, metric: str) -> Mapping[str, float]:
    scores = run.scores["test"].get(arm, {})
    return {question: values[metric] for question, values in scores.items() if metric in values}


def _p_value(pairs: Pairs) -> float:
    if is_binary(pairs.a) and is_binary(pairs.b):
        return mcnemar(int((pairs.differences > 0).sum()), int((pairs.differences < 0).sum()))
    return sign_flip(pairs.differences, pairs.clusters)


def _contrast(plan: Plan, pairs: Pairs, p: float, p_adjusted: float | None, margin: float) -> Contrast:
    difference = difference_estimate(pairs.differences.tolist(), pairs.clusters)
    return Contrast(
        a=plan[0],
        b=plan[1],
        metric=plan[2],
        n=len(pairs.clusters),
        difference=difference.value,
        low=difference.low,
        high=difference.high,
        p=p,
        p_adjusted=p_adjusted,
        a_only=int((pairs.differences > 0).sum()),
        b_only=int((pairs.differences < 0).sum()),
        mde=round(minimum_detectable_difference(pairs.differences), DECIMALS),
        verdict=verdict_word(difference, margin, p_adjusted),
        primary=p_adjusted is None,
    )
