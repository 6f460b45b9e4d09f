"""What a metric is: a number for one answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.schemas.answer import Answer
from corpus.schema import Question


@dataclass(frozen=True)
class Metric:
    """A measure of one answer against one question."""

    name: str
    label: str
    """What a table calls it."""
    unit: str
    """What a mean of it is counted in."""
    higher_is_better: bool
    score: Callable[[Answer, Question], float | None]
    """0 to 1, or None where the metric does not apply to the answer."""
