"""Openbook against a baseline under the same load: pairs of batches, and what they say together.

Every block of requests is sent twice, once to each side. Which side goes first alternates, so that what the first
leaves warm (the engine's prefix cache, the processor's clock) favours neither.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.bench.load import Batch


@dataclass(frozen=True)
class Pair:
    """One block of requests, as each side answered it."""

    openbook: Batch
    baseline: Batch


@dataclass(frozen=True)
class Comparison:
    """Throughput in requests a second; latencies in milliseconds at the median."""

    clients: int
    requests: int
    openbook_per_second: float
    baseline_per_second: float
    throughput_ratio: float
    """Openbook's throughput over the baseline's, all blocks together; 1 is no loss."""
    ratio_low: float
    ratio_high: float
    """The lowest and the highest ratio of a single block."""
    openbook_p50_ms: float
    baseline_p50_ms: float
    overhead_ms: float
    """Median over the requests of Openbook's latency minus the baseline's for the same request."""


def compare(clients: int, pairs: Sequence[Pair]) -> Comparison:
    """Put the blocks of one load together.

    Raises:
        ValueError: no blocks were given.
    """
    if not pairs:
        raise ValueError("no blocks to compare")
    ratios = [pair.baseline.seconds / pair.openbook.seconds for pair in pairs]
    ours = [latency for pair in pairs for latency in pair.openbook.latencies_ms]
    theirs = [latency for pair in pairs for latency in pair.baseline.latencies_ms]
    our_seconds = sum(pair.openbook.seconds for pair in pairs)
    their_seconds = sum(pair.baseline.seconds for pair in pairs)
    return Comparison(
        clients=clients,
        requests=len(ours),
        openbook_per_second=len(ours) / our_seconds,
        baseline_per_second=len(theirs) / their_seconds,
        throughput_ratio=their_seconds / our_seconds,
        ratio_low=min(ratios),
        ratio_high=max(ratios),
        openbook_p50_ms=statistics.median(ours),
        baseline_p50_ms=statistics.median(theirs),
        overhead_ms=statistics.median(a - b for a, b in zip(ours, theirs, strict=True)),
    )
