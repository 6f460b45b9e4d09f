from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from experiments.report.figures import svg
from experiments.report.figures.lines import Course, Line, cost_lines
from experiments.report.figures.rows import Row, interval_rows
from experiments.report.figures.scale import Scale, cost_scale
from experiments.report.figures.scatter import Point, cost_against_accuracy
from experiments.results import Estimate

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}
FRAME = svg.Frame(440, "chart", "A chart")


def test_a_value_lies_on_the_axis_in_proportion() -> None:
    assert Scale(0, 1, 100, 300)(0.25) == 150
    assert Scale(1, 100, 0, 200, logarithmic=True)(10) == pytest.approx(100)


def test_a_value_beyond_the_axis_lies_at_its_end() -> None:
    assert Scale(0, 1, 100, 300)(7) == 300
    assert Scale(0, 1, 100, 300)(-7) == 100


@given(st.floats(1e-9, 1e9), st.floats(1.0001, 1e6), st.integers(2, 8))
def test_ticks_are_few_and_on_the_axis(low: float, ratio: float, most: int) -> None:
    for scale in (Scale(0, low, 0, 1), Scale(low, low * ratio, 0, 1, logarithmic=True)):
        ticks = scale.ticks(most)
        assert len(ticks) <= most + 1
        assert all(scale.low * 0.999999 <= tick <= scale.high * 1.000001 for tick in ticks)


def test_the_axis_of_sums_is_logarithmic_only_where_they_differ_much() -> None:
    assert cost_scale([1.0, 8.0], 0, 1).logarithmic
    assert not cost_scale([1.0, 7.0], 0, 1).logarithmic
    assert not cost_scale([0.0, 100.0], 0, 1).logarithmic
    assert not cost_scale([0.0], 0, 1).logarithmic


@pytest.mark.parametrize("ends", [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.37), (1.0, 0.21, 1.0)])
def test_intervals_at_either_end_stay_inside_the_chart(ends: tuple[float, float, float]) -> None:
    value, low, high = ends
    row = Row("arm", "", "search", Estimate(value=value, low=low, high=high))
    for width in (svg.NARROW_WIDTH, 620):
        root = ElementTree.fromstring(interval_rows([row], svg.Frame(width, "k", "t")))
        places = [float(node.get(name, "")) for node in root.iter() for name in ("x1", "x2", "cx") if node.get(name)]
        assert 0 <= min(places) <= max(places) <= width


def test_the_whisker_spans_the_interval_and_the_marker_lies_at_the_value() -> None:
    row = Row("arm", "", "search", Estimate(value=0.5, low=0.25, high=0.75))
    root = ElementTree.fromstring(interval_rows([row], svg.Frame(620, "k", "t")))
    zero, *_, one = sorted({float(line.get("x1", "")) for line in root.iterfind("svg:line[@class='grid']", NAMESPACE)})
    whisker = root.find(".//svg:line[@class='whisker search']", NAMESPACE)
    marker = root.find(".//svg:circle", NAMESPACE)
    assert whisker is not None
    assert marker is not None
    assert float(whisker.get("x1", "")) == pytest.approx(zero + (one - zero) / 4, abs=0.1)
    assert float(whisker.get("x2", "")) == pytest.approx(zero + (one - zero) * 3 / 4, abs=0.1)
    assert float(marker.get("cx", "")) == pytest.approx((zero + one) / 2, abs=0.1)


POINTS = st.lists(st.tuples(st.floats(0.001, 10), st.floats(0.02, 0.98)), min_size=1, max_size=6)


@given(POINTS, st.sampled_from([440.0, svg.NARROW_WIDTH]))
@example(points=[(9.75, 0.5), (0.2059180372187916, 0.5)], width=440.0)
def test_names_of_six_arms_never_overlap(points: list[tuple[float, float]], width: float) -> None:
    named = [
        Point(f"arm_{index}", "search", cost, Estimate(value=value, low=value, high=value))
        for index, (cost, value) in enumerate(points)
    ]
    drawn = cost_against_accuracy(named, svg.Frame(width, "k", "t"), "USD", str)
    boxes = []
    for node in ElementTree.fromstring(drawn).iterfind("svg:text[@class='strong small']", NAMESPACE):
        left, baseline = float(node.get("x", "")), float(node.get("y", ""))
        boxes.append((left, baseline - 12, left + svg.text_width(node.text or "", 13), baseline + 4))
    assert all(box[0] >= 0 and box[2] <= width for box in boxes)
    for one, other in combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, f"{one} overlaps {other}"


def test_names_at_the_ends_of_two_lines_are_moved_apart() -> None:
    course = Course([Line("rag", "search", 0.0, 1.0), Line("ft", "tuned", 0.5, 1.0)], 1000, None)
    root = ElementTree.fromstring(cost_lines(course, FRAME, "USD", str))
    heights = [float(text.get("y", "")) for text in root.iterfind("svg:text", NAMESPACE) if text.text in ("rag", "ft")]
    assert abs(heights[0] - heights[1]) >= 16


def test_a_text_that_does_not_fit_is_cut_and_says_so() -> None:
    assert svg.fitted("rag", 14, 100) == "rag"
    cut = svg.fitted("retrieval_with_everything", 14, 80)
    assert cut.endswith("…")
    assert svg.text_width(cut, 14) <= 80
