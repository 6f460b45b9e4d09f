"""What each arm costs, and after how many questions the dearer start has paid for itself.

Where the run was given no price, everything is machine time instead of money.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.report import words
from experiments.report.arms import Arm
from experiments.results import ArmCost, Contrast, CostSummary

FIRST_QUESTIONS = 1000
"""The cost chart shows preparation plus this many questions."""


@dataclass(frozen=True)
class Costs:
    """The unit in which the run's costs are shown."""

    summary: CostSummary

    @property
    def priced(self) -> bool:
        """Whether a machine hour has a price."""
        return self.summary.price_per_hour > 0

    @property
    def unit(self) -> str:
        """The unit of every sum on an axis."""
        return self.summary.currency if self.priced else "machine seconds"

    def shown(self, sum_: float) -> str:
        """Return a sum in money or in machine time."""
        return words.money(sum_, self.summary.currency) if self.priced else words.machine_time(sum_)

    def cell(self, seconds: float, money: float) -> tuple[str, str]:
        """Return machine time and, as a note to it, its price."""
        time = words.machine_time(seconds)
        return (words.money(money, self.summary.currency), time) if self.priced else (time, "")

    def one_off(self, cost: ArmCost) -> float:
        """Return what an arm costs before its first question: indexing, training or both."""
        return cost.one_off_money if self.priced else cost.one_off_seconds

    def total(self, cost: ArmCost, questions: float) -> float:
        """Return what an arm costs in all after so many questions."""
        per_1000 = cost.money_per_1000_questions if self.priced else cost.seconds_per_1000_questions
        return self.one_off(cost) + per_1000 * questions / 1000

    def first(self, cost: ArmCost) -> float:
        """Return what an arm costs for its preparation and its first questions."""
        return self.total(cost, FIRST_QUESTIONS)


@dataclass(frozen=True)
class BreakEven:
    """Total cost over questions for the retrieving and the fine-tuned arm."""

    arms: tuple[Arm, Arm]
    questions: float
    """The right end of the chart."""
    crossing: float | None
    """Questions after which the two have cost the same; None where they never do."""


def break_even(arms: Sequence[Arm], contrast: Contrast | None, costs: Costs) -> BreakEven | None:
    """Return the two arms to compare over time; None where the primary contrast is of other arms."""
    pair = _pair(arms, contrast)
    if pair is None:
        return None
    crossing = costs.summary.break_even_questions
    if crossing is not None and not (math.isfinite(crossing) and crossing > 0):
        crossing = None
    return BreakEven(pair, _round_up(crossing * 2 if crossing else _horizon(pair, costs)), crossing)


def _pair(arms: Sequence[Arm], contrast: Contrast | None) -> tuple[Arm, Arm] | None:
    """Return the retrieving and the fine-tuned arm of the primary contrast: those that the break-even is about."""
    named = [arm for arm in arms if contrast and arm.name in (contrast.a, contrast.b) and arm.result.scored]
    search = next((arm for arm in named if arm.family == "search"), None)
    tuned = next((arm for arm in named if arm.family == "tuned"), None)
    return (search, tuned) if search and tuned else None


def _horizon(pair: tuple[Arm, Arm], costs: Costs) -> float:
    """Return so many questions that answering costs as much as the dearer preparation; 1,000 at least."""
    prepared = max(costs.one_off(arm.result.cost) for arm in pair)
    answering = max(costs.total(arm.result.cost, 1) - costs.one_off(arm.result.cost) for arm in pair)
    return max(1000.0, prepared / answering if answering > 0 else 0.0)


def _round_up(number: float) -> float:
    """Return the next number that is a multiple of a fifth of its power of ten: 11,534 becomes 12,000."""
    step = 10.0 ** math.floor(math.log10(number)) / 5
    return math.ceil(number / step) * step
