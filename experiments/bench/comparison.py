"""Openbook against a baseline under the same load: pairs of batches, and what they say together.

Every block of requests is sent twice, once to each side. Which side goes first alternates, so that what the first
leaves warm (the engine's prefix cache, the processor's clock) favours neither.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.bench.latencies import Latencies
from experiments.bench.load import Batch, Outcome


@dataclass(frozen=True)
class Pair:
    """One block of requests, as each side answered it."""

    openbook: Batch
    baseline: Batch


@dataclass(frozen=True)
class Side:
    """All blocks of one side."""

    per_second: float
    latency: Latencies
    first_token: Latencies | None
    """None where the answers were not streamed."""


@dataclass(frozen=True)
class Comparison:
    """Requests a second, and milliseconds."""

    clients: int
    requests: int
    openbook: Side
    baseline: Side
    throughput_ratio: float
    """Openbook's throughput over the baseline's, all blocks together; 1 is no loss."""
    ratio_low: float
    ratio_high: float
    """The lowest and the highest ratio of a single block."""
    overhead_ms: float
    """Median over the requests of Openbook's latency minus the baseline's for the same request."""
    first_token_overhead_ms: float | None
    """The same of the time to the first token, where the answers were streamed."""


def compare(clients: int, pairs: Sequence[Pair]) -> Comparison:
    """Put the blocks of one load together.

    Raises:
        ValueError: no blocks were given.
    """
    if not pairs:
        raise ValueError("no blocks to compare")
    ratios = [pair.baseline.seconds / pair.openbook.seconds for pair in pairs]
    ours = [outcome for pair in pairs for outcome in pair.openbook.outcomes]
    theirs = [outcome for pair in pairs for outcome in pair.baseline.outcomes]
    our_seconds = sum(pair.openbook.seconds for pair in pairs)
    their_seconds = sum(pair.baseline.seconds for pair in pairs)
    first_tokens = [
        mine.first_token_ms - raw.first_token_ms
        for mine, raw in zip(ours, theirs, strict=True)
        if mine.first_token_ms is not None and raw.first_token_ms is not None
    ]
    return Comparison(
        clients=clients,
        requests=len(ours),
        openbook=_side(ours, our_seconds),
        baseline=_side(theirs, their_seconds),
        throughput_ratio=their_seconds / our_seconds,
        ratio_low=min(ratios),
        ratio_high=max(ratios),
        overhead_ms=statistics.median(mine.latency_ms - raw.latency_ms for mine, raw in zip(ours, theirs, strict=True)),
        first_token_overhead_ms=statistics.median(first_tokens) if first_tokens else None,
    )


def _side(outcomes: Sequence[Outcome], seconds: float) -> Side:
    first_tokens = [outcome.first_token_ms for outcome in outcomes if outcome.first_token_ms is not None]
    return Side(
        per_second=len(outcomes) / seconds,
        latency=Latencies.of([outcome.latency_ms for outcome in outcomes]),
        first_token=Latencies.of(first_tokens) if first_tokens else None,
    )
