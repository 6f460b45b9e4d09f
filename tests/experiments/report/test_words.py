from __future__ import annotations

import math

import pytest

from experiments.report import words
from experiments.results import Estimate


def plain(text: str) -> str:
    return text.replace(words.SPACE, " ")


def test_ratios_are_per_cent_and_intervals_have_two_ends() -> None:
    assert plain(words.percent(0.714)) == "71 %"
    assert plain(words.percent(0.714, 1)) == "71.4 %"
    assert words.interval(Estimate(value=1.0, low=0.214, high=1.0)) == "21–100"


@pytest.mark.parametrize(
    ("difference", "text"), [(0.071, "+7.1"), (-0.5, "−50.0"), (0.0, "0.0"), (-0.0004, "0.0"), (0.0004, "0.0")]
)
def test_differences_are_signed_points_and_zero_has_no_sign(difference: float, text: str) -> None:
    assert words.points(difference) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0, "0"), (0.0112, "0.011"), (0.00012, "0.00012"), (0.98, "0.98"), (1.5, "1.50"), (12_345.6, "12,346")],
)
def test_sums_have_as_many_digits_as_they_are_worth(number: float, text: str) -> None:
    assert words.amount(number) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.0, "0 s"), (0.42, "0.4 s"), (41.0, "41 s"), (408.0, "6 min 48 s")])
def test_machine_time_reads_as_a_person_says_it(seconds: float, text: str) -> None:
    assert plain(words.machine_time(seconds)) == text


def test_a_p_value_is_never_zero() -> None:
    assert words.probability(0.0) == "< 0.001"
    assert words.probability(0.0313) == "0.031"


def test_what_is_no_number_is_a_dash() -> None:
    nothing = Estimate(value=math.nan, low=math.nan, high=math.nan)
    shown = [words.percent(math.nan), words.interval(nothing), words.points(math.nan), words.money(math.nan, "USD"),
             words.machine_time(math.inf), words.milliseconds(math.nan), words.probability(math.nan)]  # fmt: skip
    assert set(shown) == {"–"}


def test_dates_are_written_out_and_other_text_is_kept() -> None:
    assert words.day("2026-11-29T21:04:11+00:00") == "29 November 2026"
    assert words.day("") == ""


def test_a_list_is_joined_as_in_a_sentence() -> None:
    assert [words.enumeration(items) for items in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
