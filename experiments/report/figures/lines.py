"""Total cost over the number of questions for two arms: where the lines cross, the dearer start has paid for itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from experiments.report import words
from experiments.report.figures import svg
from experiments.report.figures.scale import Scale

HEIGHT = 260.0


@dataclass(frozen=True)
class Line:
    """An arm's total cost before the first question and at the right end of the chart."""

    name: str
    family: str
    start: float
    end: float


@dataclass(frozen=True)
class Course:
    """Lines from 0 to `questions` questions, and the number at which they cross; None where they do not."""

    lines: Sequence[Line]
    questions: float
    crossing: float | None


def cost_lines(course: Course, frame: svg.Frame, unit: str, shown: Callable[[float], str]) -> str:
    """Draw the lines, and the crossing where there is one; `unit` names the sums, `shown` writes one."""
    lines, questions, crossing = course.lines, course.questions, course.crossing
    spoken = [f"{line.name}: {shown(line.start)} at the start, {shown(line.end)} after all" for line in lines]
    root = svg.drawing(frame, HEIGHT, "; ".join(spoken) + ".")
    room = min(150.0, max(svg.text_width(line.name, 13) for line in lines)) + 14
    across = Scale(0, questions, 52, frame.width - room)
    up = Scale(0, max(max(line.start, line.end) for line in lines) * 1.08 or 1.0, HEIGHT - 48, 26)
    _draw_axes(root, across, up)
    svg.label(root, 0, 12, unit, css="muted small")
    if crossing is not None and crossing <= questions:
        x = across(crossing)
        svg.element(root, "line", "reference-line", x1=x, x2=x, y1=20, y2=up.start)
        svg.label(root, x, 12, f"even at {words.count(crossing)} questions", css="strong small", anchor="middle")
    for line, y in zip(lines, _label_heights([up(line.end) for line in lines]), strict=True):
        svg.element(
            root, "line", f"trend {line.family}", x1=across(0), y1=up(line.start), x2=across.end, y2=up(line.end)
        )
        svg.marker(root, line.family, across.end, up(line.end), 5)
        name = svg.fitted(line.name, 13, room - 12)
        svg.tooltip(svg.label(root, across.end + 12, y + 4, name, css="strong small"), line.name)
    return svg.markup(root)


def _draw_axes(root: svg.Element, across: Scale, up: Scale) -> None:
    for tick in up.ticks(4):
        svg.element(root, "line", "grid", x1=across.start, x2=across.end, y1=up(tick), y2=up(tick))
        svg.label(
            root, across.start - 8, up(tick) + 4, words.round_number(tick), css="muted small number", anchor="end"
        )
    for tick in across.ticks(3 if across.end < 300 else 5):
        x = across(tick)
        svg.element(root, "line", "tick", x1=x, x2=x, y1=up.start, y2=up.start + 4)
        svg.label(root, x, up.start + 19, words.count(tick), css="muted small number", anchor="middle")
    svg.label(root, across.end, up.start + 39, "questions answered", css="muted small", anchor="end")


def _label_heights(heights: list[float]) -> list[float]:
    """Move labels apart until each has a line of its own."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed = list(heights)
    for above, below in pairwise(order):
        placed[below] = max(placed[below], placed[above] + 16)
    return placed
