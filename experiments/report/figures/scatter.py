"""Cost against accuracy: a marker for each arm, its 95 % interval, and its name beside it.

Names are placed one by one where they touch neither a marker nor another name; one that had to move away from its
marker is tied to it by a thin line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from experiments.report import words
from experiments.report.figures import svg
from experiments.report.figures.scale import Scale, cost_scale
from experiments.results import Estimate

HEIGHT = 212.0
LABEL_SIZE = 13.0


@dataclass(frozen=True)
class Point:
    """An arm's cost and its accuracy."""

    name: str
    family: str
    cost: float
    estimate: Estimate


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: _Box) -> float:
        """Return the area that the two boxes share."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, across) * max(0.0, down)


def cost_against_accuracy(points: Sequence[Point], frame: svg.Frame, axis: str, shown: Callable[[float], str]) -> str:
    """Draw the points; `axis` names the horizontal axis, `shown` writes a sum."""
    spoken = [f"{point.name}: {shown(point.cost)}, {words.percent(point.estimate.value)}" for point in points]
    root = svg.drawing(frame, HEIGHT, "; ".join(spoken) + ".")
    across = cost_scale([point.cost for point in points], 44, frame.width - 12)
    up = Scale(0, 1, HEIGHT - 48, 14)
    _draw_axes(root, across, up, axis + (", log scale" if across.logarithmic else ""))
    places = [(across(point.cost), up(point.estimate.value)) for point in points]
    for point, (x, _) in zip(points, places, strict=True):
        svg.element(
            root, "line", f"whisker {point.family}", x1=x, x2=x, y1=up(point.estimate.low), y2=up(point.estimate.high)
        )
    for point, (x, y), said in zip(points, places, spoken, strict=True):
        svg.tooltip(svg.marker(root, point.family, x, y), said)
    # A pixel of room: coordinates are rounded when they are written.
    _draw_names(root, points, places, up, _Box(46, 2, frame.width - 1, HEIGHT - 50))
    return svg.markup(root)


def _draw_axes(root: svg.Element, across: Scale, up: Scale, axis: str) -> None:
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        svg.element(root, "line", "grid", x1=across.start, x2=across.end, y1=up(tick), y2=up(tick))
        svg.label(root, across.start - 8, up(tick) + 4, words.percent(tick), css="muted small number", anchor="end")
    for tick in across.ticks(most=4 if across.end < 360 else 6):
        x = across(tick)
        svg.element(root, "line", "tick", x1=x, x2=x, y1=up.start, y2=up.start + 4)
        svg.label(root, x, up.start + 19, words.round_number(tick), css="muted small number", anchor="middle")
    svg.label(root, across.end, up.start + 39, axis, css="muted small", anchor="end")


def _draw_names(
    root: svg.Element, points: Sequence[Point], places: Sequence[tuple[float, float]], up: Scale, frame: _Box
) -> None:
    taken = [_Box(x - 8, y - 8, x + 8, y + 8) for x, y in places]
    taken += [
        _Box(x - 2, up(point.estimate.high), x + 2, up(point.estimate.low))
        for point, (x, _) in zip(points, places, strict=True)
    ]
    for point, (x, y) in zip(points, places, strict=True):
        name = svg.fitted(point.name, LABEL_SIZE, frame.right / 3)
        candidates = list(_candidates(x, y, svg.text_width(name, LABEL_SIZE)))
        # The first place that is free; where none is, the one that hides least.
        box = min(candidates, key=lambda box: _hidden(box, taken, frame))
        taken.append(_Box(box.left - GAP, box.top, box.right + GAP, box.bottom))
        if candidates.index(box) >= NEAR:
            edge = box.left - 2 if box.left > x else box.right + 2 if box.right < x else (box.left + box.right) / 2
            svg.element(root, "line", "leader", x1=x, y1=y, x2=edge, y2=(box.top + box.bottom) / 2)
        svg.tooltip(svg.label(root, box.left, box.bottom - 4, name, css="strong small"), point.name)


GAP = 6.0
"""Least distance between two names on a line, in pixels."""
NEAR = 6
"""The first candidates lie beside their marker and need no line to it."""


def _candidates(x: float, y: float, width: float) -> Iterator[_Box]:
    """Yield places for a name, the best first."""
    height = 16.0
    middles = [(x + 11, y), (x - 11 - width, y), (x - width / 2, y - 17), (x - width / 2, y + 17)]
    middles += [(x + 8, y - 13), (x - 8 - width, y - 13)]
    for distance in (22, 36, 50, 64, 80):
        for side in (x + 18, x - 18 - width, x - width / 2, x - width * 0.8):
            middles += [(side, y - distance), (side, y + distance)]
    for left, middle in middles:
        yield _Box(left, middle - height / 2, left + width, middle + height / 2)


def _hidden(box: _Box, taken: Sequence[_Box], frame: _Box) -> float:
    """Return the area of the box that is hidden or cut off."""
    area = (box.right - box.left) * (box.bottom - box.top)
    return sum(map(box.overlap, taken)) + area - box.overlap(frame)
