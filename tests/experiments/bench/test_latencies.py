"""What is said of many latencies, and what is not."""

from __future__ import annotations

import pytest

from experiments.bench.latencies import Latencies


def test_percentiles_are_values_that_so_many_do_not_exceed():
    latencies = Latencies.of([float(value) for value in range(1000, 0, -1)])
    assert (latencies.p50, latencies.p90, latencies.p99, latencies.maximum) == (500, 900, 990, 1000)
    assert latencies.cells() == ("500", "900", "990")


def test_a_percentile_without_ten_requests_beyond_it_is_not_given():
    assert Latencies.of([1.0] * 999).p99 is None
    assert Latencies.of([1.0] * 99).p90 is None
    assert Latencies.of([1.0] * 100).p90 == 1
    assert Latencies.of([3.0, 4.0, 1500.0]).cells() == ("4", "-", "max 1,500")


def test_no_latencies_are_refused():
    with pytest.raises(ValueError, match="no requests"):
        Latencies.of([])
