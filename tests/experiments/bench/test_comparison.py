"""What two batches of the same requests say about an overhead."""

from __future__ import annotations

import pytest

from experiments.bench.comparison import Pair, compare
from experiments.bench.load import Batch, Outcome


def batch(seconds, *latencies, first_token_ms=None):
    return Batch(seconds, tuple(Outcome(200, latency, first_token_ms) for latency in latencies))


def test_throughput_is_compared_over_all_blocks_and_overhead_request_by_request():
    pairs = [
        Pair(openbook=batch(2.0, 110, 210), baseline=batch(1.8, 100, 200)),
        Pair(openbook=batch(2.0, 320, 430), baseline=batch(2.2, 300, 400)),
    ]
    result = compare(1, pairs)
    assert result.requests == 4
    assert result.openbook.per_second == pytest.approx(4 / 4.0)
    assert result.throughput_ratio == pytest.approx(4.0 / 4.0)
    assert (result.ratio_low, result.ratio_high) == (pytest.approx(0.9), pytest.approx(1.1))
    assert result.overhead_ms == pytest.approx(15)  # the median of 10, 10, 20, 30
    assert result.openbook.first_token is result.first_token_overhead_ms is None


def test_first_tokens_are_compared_where_both_sides_streamed_one():
    ours, theirs = batch(1.0, 90, 90, first_token_ms=70), batch(1.0, 80, 80, first_token_ms=58)
    result = compare(1, [Pair(ours, theirs)])
    assert result.openbook.first_token.p50 == 70
    assert result.first_token_overhead_ms == pytest.approx(12)


def test_no_blocks_are_refused():
    with pytest.raises(ValueError, match="no blocks"):
        compare(1, [])
