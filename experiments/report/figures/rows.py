"""Dots with their 95 % intervals, one a row, on an axis from 0 to 100 %.

Used for the accuracy of the arms and for general knowledge before and after fine-tuning. Every row carries its name
and its value, so there is no legend to look up. A wide chart puts the name beside the dot, a narrow one above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.report import words
from experiments.report.figures import svg
from experiments.report.figures.scale import Scale
from experiments.results import Estimate

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
ROW_HEIGHT = 52.0
WIDE_FROM = 440.0


@dataclass(frozen=True)
class Row:
    """A named value; `estimate` is None where nothing could be measured."""

    name: str
    note: str
    family: str
    estimate: Estimate | None


@dataclass(frozen=True)
class _Layout:
    """Where the parts of a row stand."""

    width: float
    wide: bool
    scale: Scale
    names_room: float
    row_height: float


def interval_rows(rows: Sequence[Row], frame: svg.Frame, row_height: float = ROW_HEIGHT) -> str:
    """Draw the rows in the order given."""
    layout = _layout(frame.width, row_height)
    height = len(rows) * layout.row_height + 30
    root = svg.drawing(frame, height, "; ".join(map(_spoken, rows)) + ".")
    for tick in TICKS:
        x = layout.scale(tick)
        if layout.wide:
            svg.element(root, "line", "grid", x1=x, x2=x, y1=4, y2=height - 26)
        svg.label(root, x, height - 8, words.percent(tick), css="muted small", anchor=_tick_anchor(layout, tick))
    for index, row in enumerate(rows):
        _draw_row(root, layout, row, index * layout.row_height + 4)
    return svg.markup(root)


def _layout(width: float, row_height: float) -> _Layout:
    if width < WIDE_FROM:
        return _Layout(width, False, Scale(0, 1, 7, width - 7), width - 104, ROW_HEIGHT)
    names = min(220.0, width * 0.36)
    return _Layout(width, True, Scale(0, 1, names + 12, width - 82), names, row_height)


def _tick_anchor(layout: _Layout, tick: float) -> str:
    if layout.wide or tick not in (0.0, 1.0):
        return "middle"
    return "end" if tick else "start"


def _draw_row(root: svg.Element, layout: _Layout, row: Row, top: float) -> None:
    group = svg.element(root, "g", row.family)
    svg.tooltip(group, _spoken(row))
    name = svg.fitted(row.name, 14, layout.names_room)
    if layout.wide:
        middle = top + layout.row_height / 2
        svg.label(group, 0, middle - 4 if row.note else middle + 5, name, css="strong")
        svg.label(group, 0, middle + 13, svg.fitted(row.note, 12, layout.names_room), css="muted small")
        _draw_interval(group, layout, row, middle)
        _draw_value(group, layout.width, middle - 4, middle + 13, row)
        return
    svg.label(group, 0, top + 16, name, css="strong")
    room = layout.names_room - svg.text_width(name, 14) - 8
    if svg.fitted(row.note, 12, room) == row.note:
        svg.label(group, svg.text_width(name, 14) + 8, top + 16, row.note, css="muted small")
    for x in map(layout.scale, TICKS):
        svg.element(group, "line", "grid", x1=x, x2=x, y1=top + 27, y2=top + 41)
    _draw_interval(group, layout, row, top + 34)
    _draw_value(group, layout.width, top + 16, None, row)


def _draw_interval(group: svg.Element, layout: _Layout, row: Row, y: float) -> None:
    scale = layout.scale
    svg.element(group, "line", "track", x1=scale(0), x2=scale(1), y1=y, y2=y)
    if row.estimate is None:
        return
    if math.isfinite(row.estimate.low) and math.isfinite(row.estimate.high):
        low, high = scale(row.estimate.low), scale(row.estimate.high)
        svg.element(group, "line", f"whisker {row.family}", x1=low, x2=high, y1=y, y2=y)
        for x in (low, high):
            svg.element(group, "line", f"whisker {row.family}", x1=x, x2=x, y1=y - 8, y2=y + 8)
    svg.marker(group, row.family, scale(row.estimate.value), y, 5)


def _draw_value(group: svg.Element, right: float, y: float, below: float | None, row: Row) -> None:
    """Write value and interval, on two lines where there is a second one."""
    if row.estimate is None:
        svg.label(group, right, y, "not scored", css="muted small", anchor="end")
        return
    value, interval = words.percent(row.estimate.value), words.interval(row.estimate)
    if below is not None:
        svg.label(group, right, y, value, css="strong number", anchor="end")
        svg.label(group, right, below, interval, css="muted small number", anchor="end")
        return
    svg.label(group, right, y, interval, css="muted small number", anchor="end")
    svg.label(group, right - svg.text_width(interval, 12) - 8, y, value, css="strong number", anchor="end")


def _spoken(row: Row) -> str:
    if row.estimate is None:
        return f"{row.name}: not scored"
    ends = words.interval(row.estimate).replace(words.DASH, " to ")
    return f"{row.name}: {words.percent(row.estimate.value)}, 95 % interval {ends}"
