"""`openbook bench serving`: what the REST API costs on top of the engine.

Contenders: `POST /v1/answers` (embed the question, search, write the prompt, generate, resolve citations) and the
engine itself, given the identical final messages and decoding over its own `POST /v1/chat/completions`.

Two states of the engine's prefix cache are measured. *new*: as a live server meets a question, with the fixed start of
every prompt in the cache and nothing of passages or question; the cache is emptied before each batch, and the API
keeps no vectors of questions. *repeated*: engine and API have met every question before and do least, so the same
overhead weighs most.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import click

import terminal
from experiments.bench.comparison import Comparison, Pair, compare
from experiments.bench.contenders import CACHES, FORGETFUL, Cache, Contenders, Sides
from experiments.bench.load import target
from experiments.bench.options import AS_JSON, ENGINE_URL, Loads
from experiments.bench.served import indexed
from experiments.columns import aligned
from experiments.environment import environment
from terminal import Progress

HEADING = (
    *("questions", "clients", "requests", "/v1/answers", "raw vLLM", "ratio", "blocks"),
    *("p50 ms", "p90", "p99", "raw p50", "p90", "p99", "overhead ms"),
)
FIRST_TOKEN_HEADING = (
    *("questions", "clients", "requests", "first token ms", "p90", "p99", "raw", "p90", "p99", "overhead ms"),
    *("/v1/answers", "raw vLLM", "ratio"),
)


@dataclass(frozen=True)
class Plan:
    """How the questions are sent, in each state of the cache."""

    clients: tuple[int, ...]
    """Requests under way at once, one comparison for each."""
    streaming_clients: tuple[int, ...]
    """The same with streamed answers."""
    blocks: int
    rounds: int

    def loads(self) -> Iterator[tuple[Cache, bool, int]]:
        """Yield state of the cache, whether answers are streamed, and clients of each comparison."""
        for cache in CACHES:
            yield from ((cache, False, clients) for clients in self.clients)
            yield from ((cache, True, clients) for clients in self.streaming_clients)


@dataclass(frozen=True)
class Measured:
    """One comparison."""

    cache: Cache
    streamed: bool
    comparison: Comparison


@click.command()
@click.option("--clients", default="1,4,16,32", show_default=True, type=Loads(), help="Requests under way at once.")
@click.option("--streaming-clients", default="1,16", show_default=True, type=Loads(), help="The same for streaming.")
@click.option("--questions", default=64, show_default=True, type=click.IntRange(1), help="Different questions asked.")
@click.option("--blocks", default=2, show_default=True, type=click.IntRange(1), help="Blocks that they are cut into.")
@click.option("--rounds", default=2, show_default=True, type=click.IntRange(1), help="Times that each block is sent.")
@click.option("--top-k", default=3, show_default=True, type=click.IntRange(1, 50), help="Passages in each prompt.")
@ENGINE_URL
@AS_JSON
def serving(
    *,
    clients: tuple[int, ...],
    streaming_clients: tuple[int, ...],
    questions: int,
    blocks: int,
    rounds: int,
    top_k: int,
    engine_url: str | None,
    as_json: bool,
) -> None:
    """Measure POST /v1/answers against raw vLLM given the identical final prompts.

    Throughput and latency of whole answers, and the time to the first token of streamed ones. About 25 minutes on two
    cores; `--clients 1,16 --streaming-clients 1,16 --rounds 1` takes 10. An engine of your own
    must run with VLLM_SERVER_DEV_MODE=1, so that its prefix cache can be emptied.
    """
    plan = Plan(clients, streaming_clients, blocks, rounds)
    with indexed() as store, store.served(FORGETFUL, engine_url) as forgetful:
        readiness = forgetful.readiness()
        asked = store.corpus.split("test")[: questions + 1]
        workload = [Contenders.of(forgetful, readiness.checkpoint, question, top_k) for question in asked]
        with store.served(engine_url=readiness.engine_url) as client:
            urls: dict[Cache, str] = {"new": forgetful.url, "repeated": client.url}
            measured = asyncio.run(_measure(urls, readiness.engine_url, workload, plan))
    if as_json:
        rows = [asdict(each) for each in measured]
        click.echo(json.dumps({"environment": environment(), "comparisons": rows}, indent=2))
    else:
        click.echo(_tables(measured))


async def _measure(
    urls: Mapping[Cache, str], engine_url: str, workload: Sequence[Contenders], plan: Plan
) -> list[Measured]:
    most = max((*plan.clients, *plan.streaming_clients), default=1)
    async with (
        target(urls["new"], most) as new,
        target(urls["repeated"], most) as repeated,
        target(engine_url, most, with_key=False) as engine,
    ):
        sides = Sides({"new": new, "repeated": repeated}, engine, fixed_start=workload[0].baseline)
        streamed = [each.streaming() for each in workload[1:]]
        measured = []
        for cache, streams, clients in plan.loads():
            terminal.note(f"{cache} questions, {clients} at once{', streamed' if streams else ''}")
            comparison = await _measure_load(sides, streamed if streams else workload[1:], clients, cache, plan)
            measured.append(Measured(cache, streams, comparison))
        return measured


async def _measure_load(
    sides: Sides, workload: Sequence[Contenders], clients: int, cache: Cache, plan: Plan
) -> Comparison:
    # A block that is no longer than the clients are many would be one start and one end.
    size = max(-(-len(workload) // plan.blocks), 2 * clients)
    pairs: list[Pair] = []
    with Progress("Asking both", len(workload) * plan.rounds, "questions") as progress:
        for start in range(0, len(workload), size):
            block = workload[start : start + size]
            if cache == "repeated":
                await sides.send(block, clients, cache, openbook_first=False)
            for _ in range(plan.rounds):
                pairs.append(await sides.send(block, clients, cache, openbook_first=len(pairs) % 2 == 0))
                progress.advance(len(block))
    return compare(clients, pairs)


def _tables(measured: Sequence[Measured]) -> str:
    whole = [_row(each.cache, each.comparison) for each in measured if not each.streamed]
    streamed = [_first_token_row(each.cache, each.comparison) for each in measured if each.streamed]
    tables = [
        aligned([heading, *rows]) for heading, rows in ((HEADING, whole), (FIRST_TOKEN_HEADING, streamed)) if rows
    ]
    return "\n\n".join("\n".join(table) for table in tables)


def _row(cache: Cache, row: Comparison) -> tuple[str, ...]:
    return (
        *(cache, str(row.clients), str(row.requests), *_throughput(row)),
        f"{row.ratio_low:.3f}-{row.ratio_high:.3f}",
        *row.openbook.latency.cells(),
        *row.baseline.latency.cells(),
        f"{row.overhead_ms:.1f}",
    )


def _first_token_row(cache: Cache, row: Comparison) -> tuple[str, ...]:
    cells = [side.first_token.cells() if side.first_token else ("-",) * 3 for side in (row.openbook, row.baseline)]
    overhead = row.first_token_overhead_ms
    return (
        *(cache, str(row.clients), str(row.requests), *cells[0], *cells[1]),
        "-" if overhead is None else f"{overhead:.1f}",
        *_throughput(row),
    )


def _throughput(row: Comparison) -> tuple[str, str, str]:
    return f"{row.openbook.per_second:.2f}/s", f"{row.baseline.per_second:.2f}/s", f"{row.throughput_ratio:.3f}"
