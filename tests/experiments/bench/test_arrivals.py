"""When requests come, and which."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import pairwise

import pytest

from experiments.bench.arrivals import poisson, zipf


def test_poisson_arrivals_come_at_their_rate_with_exponential_gaps():
    moments = poisson(50, 200, seed=1)
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert len(moments) == pytest.approx(10_000, rel=0.03)
    assert all(0 <= moment < 200 for moment in moments)
    # Of an exponential distribution mean and deviation are the same, and 1 - 1/e lie below the mean.
    assert statistics.stdev(gaps) == pytest.approx(statistics.mean(gaps), rel=0.05)
    assert sum(gap < 1 / 50 for gap in gaps) / len(gaps) == pytest.approx(0.632, abs=0.02)


def test_both_sides_of_a_comparison_get_the_same_arrivals():
    assert poisson(3, 60, seed=7) == poisson(3, 60, seed=7) != poisson(3, 60, seed=8)
    assert zipf("abcdef", 50, seed=7) == zipf("abcdef", 50, seed=7) != zipf("abcdef", 50, seed=8)


def test_the_second_subject_is_asked_about_half_as_often_as_the_first():
    counts = [count for _, count in Counter(zipf(range(100), 50_000, seed=3)).most_common()]
    assert counts[0] / counts[1] == pytest.approx(2, rel=0.1)
    assert counts[0] / counts[9] == pytest.approx(10, rel=0.15)
