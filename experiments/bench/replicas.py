"""`openbook bench replicas`: more replicas of the engine on the same cores.

The cores of the machine are shared out, so replicas add no computing power. What they can gain is that cores which wait
for each other wait less, and what they cost is a balancer, and batches that are divided.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import click

import terminal
from app.schemas.answer import AnswerRequest
from corpus.schema import Question
from experiments.bench.contenders import CACHES, FORGETFUL, Cache
from experiments.bench.latencies import Latencies
from experiments.bench.load import Batch, Call, Target, closed_loop, target
from experiments.bench.options import AS_JSON, Loads
from experiments.bench.served import COLLECTION, indexed
from experiments.columns import aligned
from experiments.environment import environment

HEADING = ("questions", "clients", "replicas", "requests", "per second", "ratio", "p50 ms", "p90", "p99")
WARM_UP = 8
"""Questions asked before any counts: they bring the fixed start of the prompts into every replica's cache."""


@dataclass(frozen=True)
class Row:
    """One number of replicas under one load."""

    cache: Cache
    clients: int
    replicas: int
    per_second: float
    ratio: float
    """Throughput over that of the first number of replicas, for the same questions; 1 for that one itself."""
    latency: Latencies
    """Milliseconds."""


Results = dict[tuple[Cache, int], Batch]
"""Kind of question and clients to what came of it."""


@click.command()
@click.option("--replicas", default="1,2", show_default=True, type=Loads(), help="Numbers of replicas to compare.")
@click.option("--clients", default="1,8,32", show_default=True, type=Loads(), help="Requests under way at once.")
@click.option("--questions", default=64, show_default=True, type=click.IntRange(1), help="Asked at each load.")
@AS_JSON
def replicas(*, replicas: tuple[int, ...], clients: tuple[int, ...], questions: int, as_json: bool) -> None:
    """Measure the throughput of one and of more replicas of the engine on this machine's cores.

    Each load has questions of its own (*new*), which are then asked once more (*repeated*). Every replica takes 4.5 GB.
    About 8 minutes on two cores.
    """
    with indexed() as store:
        shares = shared_out(store.corpus.split("test"), clients, questions)
        measured: dict[int, Results] = {}
        for number in replicas:
            with store.served({**FORGETFUL, "OPENBOOK_REPLICAS": str(number)}) as client:
                terminal.note(f"{number} replicas" if number > 1 else "1 replica")
                measured[number] = asyncio.run(_measure(client.url, shares))
    rows = rows_of(measured)
    if as_json:
        click.echo(json.dumps({"environment": environment(), "rows": [asdict(row) for row in rows]}, indent=2))
    else:
        click.echo("\n".join(aligned([HEADING, *(_cells(row) for row in rows)])))


def shared_out(questions: Sequence[Question], clients: Sequence[int], count: int) -> dict[int, tuple[Question, ...]]:
    """Give each load questions of its own, behind those of the warm-up.

    Raises:
        click.BadParameter: There are not as many.
    """
    most = (len(questions) - WARM_UP) // max(len(clients), 1)
    if count > most:
        raise click.BadParameter(
            f"there are {most} questions for each of {len(clients)} loads", param_hint="--questions"
        )
    starts = range(WARM_UP, len(questions), count)
    return {load: tuple(questions[start : start + count]) for load, start in zip(clients, starts, strict=False)} | {
        0: tuple(questions[:WARM_UP])
    }


async def _measure(url: str, shares: dict[int, tuple[Question, ...]]) -> Results:
    results: Results = {}
    async with target(url, max(*shares, WARM_UP)) as server:
        await closed_loop(server, [_call(question) for question in shares[0]], WARM_UP)
        for clients, questions in shares.items():
            if clients:
                results |= {(cache, clients): await _ask(server, questions, clients) for cache in CACHES}
    return results


async def _ask(server: Target, questions: Sequence[Question], clients: int) -> Batch:
    return await closed_loop(server, [_call(question) for question in questions], clients)


def _call(question: Question) -> Call:
    request = AnswerRequest(question=question.question, collection=COLLECTION)
    return Call("/v1/answers", request.model_dump(mode="json"))


def rows_of(measured: dict[int, Results]) -> list[Row]:
    """Compare every number of replicas with the first, load by load."""
    first = next(iter(measured.values()))
    return [
        Row(
            cache=cache,
            clients=clients,
            replicas=number,
            per_second=len(results[cache, clients].outcomes) / results[cache, clients].seconds,
            ratio=first[cache, clients].seconds / results[cache, clients].seconds,
            latency=Latencies.of([outcome.latency_ms for outcome in results[cache, clients].outcomes]),
        )
        for cache, clients in first
        for number, results in measured.items()
    ]


def _cells(row: Row) -> tuple[str, ...]:
    return (
        *(row.cache, str(row.clients), str(row.replicas), str(row.latency.requests), f"{row.per_second:.2f}"),
        *(f"{row.ratio:.2f}", *row.latency.cells()),
    )
