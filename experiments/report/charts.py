"""The charts of a report, each drawn twice: for a telephone and for everything wider. The style sheet shows one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from experiments.report import words
from experiments.report.arms import Arm
from experiments.report.costs import FIRST_QUESTIONS, BreakEven, Costs
from experiments.report.figures import svg
from experiments.report.figures.lines import Course, Line, cost_lines
from experiments.report.figures.rows import Row, interval_rows
from experiments.report.figures.scatter import Point, cost_against_accuracy
from experiments.report.forgetting import Forgetting

MAIN_WIDTH = 620.0
SIDE_WIDTH = 440.0


@dataclass(frozen=True)
class Chart:
    """A drawing for either width, as markup of our own making with every text escaped."""

    wide: Markup
    narrow: Markup


def accuracy_chart(arms: Sequence[Arm], metric: str, title: str) -> Chart:
    """Draw every arm's accuracy with its interval, the best first."""
    rows = [Row(arm.name, arm.role, arm.family, arm.estimate(metric)) for arm in arms]
    return _twice("accuracy", title, MAIN_WIDTH, lambda frame: interval_rows(rows, frame))


def cost_chart(arms: Sequence[Arm], metric: str, costs: Costs, title: str) -> Chart | None:
    """Draw every scored arm's cost against its accuracy; None where nothing was scored."""
    points = [
        Point(arm.name, arm.family, costs.first(arm.result.cost), estimate)
        for arm in arms
        if (estimate := arm.estimate(metric))
    ]
    if not points:
        return None
    axis = f"{costs.unit} for the first {words.count(FIRST_QUESTIONS)} questions"
    return _twice("cost", title, SIDE_WIDTH, lambda frame: cost_against_accuracy(points, frame, axis, costs.shown))


def forgetting_chart(forgetting: Forgetting, title: str) -> Chart:
    """Draw general knowledge before and after fine-tuning."""
    rows = [
        Row("Before fine-tuning", "", "reference", forgetting.before),
        Row("After fine-tuning", "", "tuned", forgetting.after),
    ]
    return _twice("forgetting", title, SIDE_WIDTH, lambda frame: interval_rows(rows, frame, row_height=40))


def break_even_chart(course: BreakEven, costs: Costs, title: str) -> Chart:
    """Draw what the retrieving and the fine-tuned arm cost in all, over the number of questions."""
    lines = [
        Line(arm.name, arm.family, costs.one_off(arm.result.cost), costs.total(arm.result.cost, course.questions))
        for arm in course.arms
    ]
    drawn = Course(lines, course.questions, course.crossing)
    return _twice("break-even", title, MAIN_WIDTH, lambda frame: cost_lines(drawn, frame, costs.unit, costs.shown))


def _twice(key: str, title: str, width: float, draw: Callable[[svg.Frame], str]) -> Chart:
    wide, narrow = svg.Frame(width, f"{key}-wide", title), svg.Frame(svg.NARROW_WIDTH, f"{key}-narrow", title)
    # The drawings come from xml.etree, which has escaped what they say.
    return Chart(Markup(draw(wide)), Markup(draw(narrow)))
