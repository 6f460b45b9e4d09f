"""The finding in one sentence, in plain English and no bolder than the numbers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.results import ArmResult, Contrast, Estimate, Gate, Trial
from experiments.spec import Arm, Spec

ACHIEVED = {
    "contains_answer": "answered {}",
    "exact_match": "answered {} exactly",
    "token_f1": "reached a token F1 of {}",
    "retrieval_recall": "found the right document for {}",
}


def verdict(
    spec: Spec,
    arms: Mapping[str, ArmResult],
    contrasts: Sequence[Contrast],
    gates: Sequence[Gate],
    trials: Mapping[str, Trial],
) -> str:
    """Return the outcome of the primary contrast, what was forgotten, and which gates failed."""
    primary = next((contrast for contrast in contrasts if contrast.primary), None)
    if primary is None:
        sentence = f"No verdict: no question was answered by both {spec.primary.a} and {spec.primary.b}"
    else:
        sentence = _comparison(spec, arms, primary)
    forgetting = _forgetting(trials.get("forgetting"))
    failed = [gate.name for gate in gates if not gate.passed]
    warning = f" Do not rely on it: failed gates {', '.join(failed)}." if failed else ""
    return f"{sentence}{forgetting}.{warning}"


def spoken(spec: Spec, name: str) -> str:
    """Return an arm in a reader's words; its name is added where another arm has the same words."""
    words = _words(spec.arms[name])
    alike = [other for other, arm in spec.arms.items() if _words(arm) == words]
    return words if len(alike) == 1 else f"{words} ({name})"


def percent(share: float) -> str:
    """Return a share of 1 as a whole percentage; one decimal between 0 and 10 %."""
    return f"{share * 100:.1f} %" if 0 < share < 0.0995 else f"{share * 100:.0f} %"


def points(difference: float) -> str:
    """Return a difference in points: whole from 10 on, else with one decimal; never "-0"."""
    rounded = round(difference * 100, 0 if abs(difference) >= 0.0995 else 1) + 0.0
    return f"{rounded:g}"


def _comparison(spec: Spec, arms: Mapping[str, ArmResult], contrast: Contrast) -> str:
    a, b = spoken(spec, contrast.a), spoken(spec, contrast.b)
    of_a, of_b = (percent(arms[name].metrics[contrast.metric].value) for name in (contrast.a, contrast.b))
    achieved = ACHIEVED.get(contrast.metric, "reached {}")
    return f"On {contrast.n} questions, {a} {achieved.format(of_a)} and {b} {of_b}: {_finding(spec, contrast, a, b)}"


def _finding(spec: Spec, contrast: Contrast, a: str, b: str) -> str:
    interval = f"95 % interval {points(contrast.low)} to {points(contrast.high)}"
    difference = f"the difference of {points(contrast.difference)} points ({interval})"
    if contrast.verdict == "better":
        return f"{a} is better by {points(contrast.difference)} points ({interval})"
    if contrast.verdict == "worse":
        flipped = f"95 % interval {points(-contrast.high)} to {points(-contrast.low)}"
        return f"{b} is better by {points(-contrast.difference)} points ({flipped})"
    if contrast.verdict == "equivalent":
        return f"they are equivalent, {difference} lying within the margin of {points(spec.margin)}"
    shown = f"so many questions show only differences of about {points(contrast.mde)} points or more"
    return f"which is better is not settled by {difference}; {shown}"


def _forgetting(trial: Trial | None) -> str:
    if trial is None:
        return ""
    difference, before, after = (trial.measured[key] for key in ("difference", "before", "after"))
    assert isinstance(difference, Estimate)
    assert isinstance(before, Estimate)
    assert isinstance(after, Estimate)
    levels = f"{percent(before.value)} before, {percent(after.value)} after"
    if trial.verdict == "forgotten":
        return f"; fine-tuning also lost {points(-difference.value)} points of general knowledge ({levels})"
    if trial.verdict == "kept":
        return f"; fine-tuning kept the general knowledge ({levels})"
    return f"; whether fine-tuning cost general knowledge is not settled ({levels})"


def _words(arm: Arm) -> str:
    source = " from the wrong corpus" if arm.corpus == "other" else ""
    kinds = {"none": "", "dense": f"retrieval{source}", "oracle": "the right passage"}
    retrieval = kinds.get(arm.retriever, f"{arm.retriever} retrieval{source}")
    if arm.checkpoint == "base":
        return retrieval or "the base model alone"
    return f"fine-tuning with {retrieval}" if retrieval else "fine-tuning"
