from __future__ import annotations

import pytest

from experiments.report.arms import describe_arms, primary_contrast
from experiments.report.costs import Costs, break_even
from tests.experiments.report.sample_run import sample_results

RESULTS = sample_results(("closed_book", "rag", "ft"), 40)
ARMS = {arm.name: arm for arm in describe_arms(RESULTS)}


def test_the_first_thousand_questions_cost_preparation_and_answering() -> None:
    costs = Costs(RESULTS.cost)
    # 408 s of training and 40 s of answering at 0.10 an hour.
    assert costs.first(ARMS["ft"].result.cost) == pytest.approx(448 * 0.10 / 3600)
    assert costs.total(ARMS["rag"].result.cost, 10_000) == pytest.approx((4.2 + 1100) * 0.10 / 3600)


def test_the_lines_cross_where_the_results_say_they_break_even() -> None:
    course = break_even(tuple(ARMS.values()), primary_contrast(RESULTS), Costs(RESULTS.cost))
    assert course is not None
    assert course.crossing == 5768.6
    # 2 x 5,768.6 = 11,537, rounded up to a multiple of 2,000.
    assert course.questions == 12_000
    rag, ft = (Costs(RESULTS.cost).total(arm.result.cost, course.crossing) for arm in course.arms)
    assert rag == pytest.approx(ft, rel=1e-3)


def test_a_dearer_start_that_never_pays_is_drawn_without_a_crossing() -> None:
    never = RESULTS.cost.model_copy(update={"break_even_questions": None})
    course = break_even(tuple(ARMS.values()), primary_contrast(RESULTS), Costs(never))
    assert course is not None
    assert course.crossing is None
    # 408 s of training are as much as 408 / 0.11 = 3,709 questions of the dearer arm.
    assert course.questions == 3_800


def test_other_primary_arms_have_no_break_even() -> None:
    other = RESULTS.contrasts[0].model_copy(update={"b": "closed_book"})
    assert break_even(tuple(ARMS.values()), other, Costs(RESULTS.cost)) is None
