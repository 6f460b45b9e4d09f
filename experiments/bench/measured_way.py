"""What one way of answering takes, and how often it is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.schemas.answer import Answer
from corpus.schema import Question
from experiments.bench.contenders import forget
from experiments.bench.latencies import Latencies
from experiments.bench.load import Batch, Outcome, Target, closed_loop
from experiments.bench.ways import Way
from experiments.metrics.contains_answer import CONTAINS_ANSWER
from experiments.results import Estimate
from experiments.statistics.estimates import difference_estimate, mean_estimate

MARGIN = 0.05
"""How much less accurate is still as accurate: five of a hundred questions, said before anything was measured."""
Verdict = Literal["better", "as accurate", "worse", "open"]
NOBODYS = Question(id="warm-up", question="Is everything ready?", answers=("-",))
Blocks = Sequence[Sequence[Question]]


@dataclass(frozen=True)
class Servers:
    """Openbook, and the engine behind it."""

    openbook: Target
    engine: Target


@dataclass(frozen=True)
class Asked:
    """One way, asked its blocks of questions with a cold cache, and the last of them again with a warm one."""

    way: Way
    cold: tuple[Batch, ...]
    """One for each block."""
    warm: Batch
    right: dict[str, float]
    """Question id to 1 for a right answer, else 0."""


@dataclass(frozen=True)
class Row:
    """A way beside the one that it is measured against."""

    name: str
    what: str
    against: str | None
    questions: int
    per_second: float
    ratio: float
    """Questions a second over those of `against`, on the same blocks; 1 for the first."""
    times_plain: float
    """The same over plain retrieval."""
    warm_per_second: float
    latency: Latencies
    """Milliseconds with a cold cache and all clients at once."""
    prompt_tokens: float
    """The mean."""
    accuracy: Estimate
    difference: Estimate
    """From plain retrieval on the same questions, paired, 95 % interval."""
    verdict: Verdict


async def ask(way: Way, blocks: Blocks, again: int, clients: int, servers: Servers) -> Asked:
    """Ask every block with the cache emptied before it, and the last `again` questions once more.

    The cache then holds what every prompt begins with and nothing else, as on a live server that meets new questions.
    """
    cold = []
    right: dict[str, float] = {}
    for block in blocks:
        await begin_cold(way, servers)
        batch = await closed_loop(servers.openbook, [way.call(question) for question in block], clients)
        cold.append(batch)
        right |= {
            question.id: score(outcome, question) for question, outcome in zip(block, batch.outcomes, strict=True)
        }
    warm = await closed_loop(servers.openbook, [way.call(question) for question in blocks[-1][-again:]], clients)
    return Asked(way, tuple(cold), warm, right)


async def begin_cold(way: Way, servers: Servers) -> None:
    """Leave nothing in the engine's cache but what every prompt of a way begins with."""
    await forget(servers.engine)
    await closed_loop(servers.openbook, [way.call(NOBODYS)], 1)


def score(outcome: Outcome, question: Question) -> float:
    """Return 1 where the answer contains an accepted spelling, 0 where it does not or there is none."""
    return float(CONTAINS_ANSWER.score(Answer.model_validate(outcome.reply), question) or 0.0) if outcome.ok else 0.0


def row(asked: Asked, against: Asked, plain: Asked, clusters: dict[str, str]) -> Row:
    """Compare a way with another one and with plain retrieval.

    Args:
        asked: The way.
        against: What its speed is measured against.
        plain: What its accuracy is measured against.
        clusters: Question id to the fact that it asks about.
    """
    ids = [id_ for id_ in asked.right if id_ in plain.right]
    facts = [clusters[id_] for id_ in ids]
    difference = difference_estimate([asked.right[id_] - plain.right[id_] for id_ in ids], facts)
    outcomes = [outcome for batch in asked.cold for outcome in batch.outcomes]
    tokens = [outcome.reply["usage"]["prompt_tokens"] for outcome in outcomes]
    return Row(
        name=asked.way.name,
        what=asked.way.what,
        against=asked.way.against,
        questions=len(ids),
        per_second=len(outcomes) / sum(batch.seconds for batch in asked.cold),
        ratio=_times(asked, against),
        times_plain=_times(asked, plain),
        warm_per_second=len(asked.warm.outcomes) / asked.warm.seconds,
        latency=Latencies.of([outcome.latency_ms for outcome in outcomes]),
        prompt_tokens=sum(tokens) / len(tokens),
        accuracy=mean_estimate([asked.right[id_] for id_ in ids], facts),
        difference=difference,
        verdict=verdict(difference),
    )


def verdict(difference: Estimate, margin: float = MARGIN) -> Verdict:
    """Say what a paired difference shows: `as accurate` where at most the margin can have been lost."""
    if difference.low > 0:
        return "better"
    if difference.low >= -margin:
        return "as accurate"
    return "worse" if difference.high < 0 else "open"


def _times(asked: Asked, other: Asked) -> float:
    """Return how many times as fast the blocks that both were asked went."""
    shared = min(len(asked.cold), len(other.cold))
    return sum(batch.seconds for batch in other.cold[:shared]) / sum(batch.seconds for batch in asked.cold[:shared])
