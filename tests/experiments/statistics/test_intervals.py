"""Intervals against scipy, hand arithmetic and simulation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from experiments.statistics.bootstrap import difference_interval, mean_interval
from experiments.statistics.estimates import difference_estimate, mean_estimate
from experiments.statistics.proportion import design_effect, proportion_interval, wilson


def each_its_own(n: int) -> list[str]:
    return [str(number) for number in range(n)]


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy(counts):
    successes, n = counts
    expected = scipy.stats.binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_of_5_in_10():
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)


def test_without_clusters_a_proportion_has_wilsons_interval():
    values = np.array([1.0, 0, 0, 1, 1, 1, 0, 1])
    assert proportion_interval(values, each_its_own(8)) == pytest.approx(wilson(5, 8))


def test_questions_that_stand_and_fall_together_count_as_one():
    # Every question three times, 24 answers, hold no more than 8 do: deff = 3 · (8 / 7) / (24 / 23).
    values = np.repeat([1.0, 0, 0, 1, 1, 1, 0, 1], 3)
    clusters = [str(number // 3) for number in range(24)]
    assert design_effect(values, clusters) == pytest.approx(3 * (8 / 7) / (24 / 23))
    low, high = proportion_interval(values, clusters)
    alone = proportion_interval(values, each_its_own(24))
    assert low < alone[0]
    assert high > alone[1]


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=60), st.integers(1, 5))
def test_an_estimate_lies_in_its_interval(values, size):
    clusters = [str(number // size) for number in range(len(values))]
    estimate = mean_estimate(values, clusters)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_the_bootstrap_of_a_mean_agrees_with_scipy():
    values = np.random.default_rng(1).beta(2, 3, size=200)
    expected = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", random_state=2
    ).confidence_interval
    assert mean_interval(values, each_its_own(200)) == pytest.approx((expected.low, expected.high), abs=0.003)


def test_the_cluster_bootstrap_is_as_wide_as_the_clusters_demand():
    # 40 clusters of 5 equal values have the standard error of 40 values, not of 200.
    heights = np.random.default_rng(3).normal(size=40)
    low, high = mean_interval(np.repeat(heights, 5), [str(number // 5) for number in range(200)])
    error = heights.std(ddof=1) / np.sqrt(40)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.06)


def test_an_interval_is_the_same_every_time():
    values = np.random.default_rng(4).random(50)
    assert mean_interval(values, each_its_own(50)) == mean_interval(values, each_its_own(50))


def test_a_paired_difference_has_the_interval_of_its_normal_approximation():
    differences = np.array([1.0] * 30 + [-1.0] * 10 + [0.0] * 160)
    low, high = difference_interval(differences, each_its_own(200))
    error = differences.std(ddof=1) / np.sqrt(200)
    assert (low, high) == pytest.approx((0.1 - 1.96 * error, 0.1 + 1.96 * error), abs=0.01)


def test_a_few_pairs_that_all_agree_prove_no_equality():
    low, high = difference_interval(np.zeros(8), each_its_own(8))
    assert low < -0.05
    assert high > 0.05


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(100):
        differences = generator.choice([1.0, 0.0, -1.0], p=[0.25, 0.65, 0.10], size=80)
        low, high = difference_interval(differences, each_its_own(80))
        covered += low <= 0.15 <= high
    assert covered >= 89


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=40))
def test_a_difference_lies_in_its_interval_and_swapping_the_arms_turns_its_sign(differences):
    forth = difference_estimate(differences, each_its_own(len(differences)))
    back = difference_estimate([-each for each in differences], each_its_own(len(differences)))
    assert back.value == -forth.value
    assert -1 <= forth.low <= forth.value <= forth.high <= 1
