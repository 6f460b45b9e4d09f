"""Significance tests, power and multiplicity against scipy and hand arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from experiments.statistics.multiplicity import holm
from experiments.statistics.paired import mcnemar, sign_flip
from experiments.statistics.power import minimum_detectable_difference


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(a_only, b_only):
    if a_only + b_only == 0:
        assert mcnemar(0, 0) == 1
    else:
        expected = scipy.stats.binomtest(a_only, a_only + b_only, 0.5).pvalue
        assert mcnemar(a_only, b_only) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_by_hand():
    # 1 against 5: 2 · (C(6,0) + C(6,1)) / 2^6 = 14/64.
    assert mcnemar(1, 5) == 14 / 64


def test_mcnemar_of_thousands_of_pairs_does_not_overflow():
    assert 0 <= mcnemar(3000, 2000) < 1e-40


def test_the_sign_flip_test_agrees_with_scipys_permutation_test():
    differences = np.random.default_rng(1).normal(0.25, 1.0, size=40)
    expected = scipy.stats.permutation_test(
        (differences, np.zeros(40)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(2),
    ).pvalue
    assert sign_flip(differences, [str(n) for n in range(40)]) == pytest.approx(expected, abs=0.015)


def test_four_clusters_of_one_sign_give_two_in_sixteen():
    # Only two of the 2^4 sign patterns are as extreme: all plus, all minus.
    differences = np.full(20, 0.5)
    assert sign_flip(differences, [str(n // 5) for n in range(20)]) == pytest.approx(2 / 16, abs=0.01)


def test_no_difference_at_all_has_p_1():
    assert sign_flip(np.zeros(10), [str(n) for n in range(10)]) == 1


@pytest.mark.parametrize(("n", "discordance", "points"), [(200, 0.20, 8.9), (500, 0.20, 5.6), (1000, 0.20, 4.0)])
def test_the_smallest_detectable_difference_by_hand(n, discordance, points):
    # (1.96 + 0.84) · sqrt(0.2 / 200) = 2.8 · 0.0316 = 8.9 points.
    discordant = round(n * discordance)
    differences = np.array([1.0, -1.0] * (discordant // 2) + [0.0] * (n - discordant))
    assert minimum_detectable_difference(differences) * 100 == pytest.approx(points, abs=0.06)


def test_pairs_that_all_agree_still_have_a_smallest_detectable_difference():
    assert minimum_detectable_difference(np.zeros(100)) == pytest.approx(
        (1.96 + 0.8416) * math.sqrt(0.01 / 100), rel=1e-3
    )


def test_a_difference_of_the_detectable_size_is_found_in_about_four_of_five_samples():
    generator = np.random.default_rng(6)
    n, discordance = 400, 0.2
    mde = 2.8016 * math.sqrt(discordance / n)
    found = 0
    for _ in range(400):
        draws = generator.choice(
            [1, -1, 0], size=n, p=[(discordance + mde) / 2, (discordance - mde) / 2, 1 - discordance]
        )
        found += abs(draws.mean() / (draws.std(ddof=1) / math.sqrt(n))) > 1.96
    assert 0.72 < found / 400 < 0.88


def test_holm_by_hand():
    # Sorted .01, .03, .04: 3·.01 = .03; 2·.03 = .06; 1·.04 = .04, but never below the one before.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_makes_a_p_smaller_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    assert [adjusted[index] for index in order] == sorted(adjusted)


def test_holm_of_one_test_changes_nothing():
    assert holm([0.2]) == (0.2,)
