"""The gate on noise: how far the scores move when the same questions are asked once more.

Greedy decoding is not bit for bit repeatable on a server that batches: sums in bfloat16 round differently beside other
requests, and a near tie between two tokens falls the other way. What an arm's score moves by between two askings is the
floor below which no difference between arms means anything (an A/A test).
"""

from __future__ import annotations

from experiments.results import Gate
from experiments.run_data import RunData


def repeatability(run: RunData) -> Gate:
    """Pass if no arm that was asked again scored differently by more than the margin of equivalence."""
    metric = run.spec.primary.metric
    moved: dict[str, float] = {}
    asked = differing = 0
    for arm, again in run.answers.get("again", {}).items():
        first = run.answers["test"].get(arm, {})
        answers = [(first[id].answer, record.answer) for id, record in again.items() if id in first]
        texts = [(one.answer, other.answer) for one, other in answers if one and other]
        asked += len(texts)
        differing += sum(one != other for one, other in texts)
        moved[arm] = _mean_difference(run, arm, metric)
    if not asked:
        return Gate(name="repeatability", passed=True, detail="Not measured: no question was asked twice.")
    points = " and ".join(f"{100 * difference:+.1f} ({arm})" for arm, difference in moved.items())
    detail = (
        f"Of {asked} answers asked for again {differing} were worded differently; {metric} moved by {points} points."
    )
    passed = all(abs(difference) <= run.spec.margin for difference in moved.values())
    if not passed:
        detail += f" That is more than the margin of {100 * run.spec.margin:.1f}: ask more questions."
    return Gate(name="repeatability", passed=passed, detail=detail)


def _mean_difference(run: RunData, arm: str, metric: str) -> float:
    """Return the mean of the second scores minus that of the first, over the questions scored both times."""
    first, again = run.scores["test"].get(arm, {}), run.scores.get("again", {}).get(arm, {})
    pairs = [
        (first[id][metric], scores[metric])
        for id, scores in again.items()
        if metric in scores and metric in first.get(id, {})
    ]
    return sum(second - one for one, second in pairs) / len(pairs) if pairs else 0.0
