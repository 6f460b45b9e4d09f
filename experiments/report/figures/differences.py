"""A paired difference with its 95 % interval against 0, small enough for a table cell.

The same numbers stand in the cells beside it, so screen readers skip the drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from experiments.report.figures import svg
from experiments.report.figures.scale import Scale
from experiments.results import Contrast

WIDTH = 150.0
HEIGHT = 22.0


def reach(contrasts: Sequence[Contrast]) -> float:
    """Return the half-width of the axis that all differences of a table share."""
    return max([0.1, *(abs(end) for contrast in contrasts for end in (contrast.low, contrast.high))])


def difference(contrast: Contrast, half_width: float) -> str:
    """Draw one difference on an axis from minus to plus `half_width`."""
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "difference",
            "viewBox": f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
            "width": f"{WIDTH:.0f}",
            "height": f"{HEIGHT:.0f}",
            "aria-hidden": "true",
        },
    )
    scale, middle = Scale(-half_width, half_width, 6, WIDTH - 6), HEIGHT / 2
    svg.element(root, "line", "track", x1=0, x2=WIDTH, y1=middle, y2=middle)
    svg.element(root, "line", "zero", x1=scale(0), x2=scale(0), y1=1, y2=HEIGHT - 1)
    low, high = scale(contrast.low), scale(contrast.high)
    svg.element(root, "rect", "band", x=low, y=middle - 5, width=max(high - low, 1.0), height=10, rx=2)
    svg.element(root, "rect", "mark plain", x=scale(contrast.difference) - 1.5, y=middle - 7, width=3, height=14)
    return svg.markup(root)
