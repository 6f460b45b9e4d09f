"""`openbook bench serving`: what the REST API costs on top of the engine.

Contenders: `POST /v1/answers` (embed the question, search, write the prompt, generate, resolve citations) and the
engine itself, given the identical final messages and decoding over its own `POST /v1/chat/completions`.

Two states of the engine's prefix cache are measured. *new*: as a live server meets a question, with the fixed start of
every prompt in the cache and nothing of passages or question; the cache is emptied before each batch. *repeated*: the
engine has answered every prompt before and does least, so the same overhead weighs most.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import click
import httpx

from app.schemas.answer import AnswerRequest
from corpus.api_key import authorization
from corpus.loading import load_corpus
from corpus.schema import Corpus, Question
from corpus.writing import write_jsonl
from experiments.bench.comparison import Comparison, Pair, compare
from experiments.bench.load import Batch, Call, closed_loop
from experiments.client import Client
from experiments.commands import Indexing, OpenbookCommands
from experiments.environment import environment
from terminal import Progress

SHIPPED_CORPUS = Path(__file__).parents[2] / "corpus" / "lormar"
COLLECTION = "bench"
Cache = Literal["new", "repeated"]
CACHES: tuple[Cache, ...] = ("new", "repeated")
TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class Contenders:
    """One question, as each contender is asked it."""

    openbook: Call
    baseline: Call


@click.command()
@click.option("--clients", default="1,16", show_default=True, help="Loads to measure: requests under way at once.")
@click.option("--questions", default=48, show_default=True, type=click.IntRange(1), help="Different questions asked.")
@click.option("--blocks", default=3, show_default=True, type=click.IntRange(1), help="Blocks that they are cut into.")
@click.option("--rounds", default=2, show_default=True, type=click.IntRange(1), help="Times that each block is sent.")
@click.option("--top-k", default=3, show_default=True, type=click.IntRange(1, 50), help="Passages in each prompt.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def serving(*, clients: str, questions: int, blocks: int, rounds: int, top_k: int, as_json: bool) -> None:
    """Measure POST /v1/answers against raw vLLM given the identical final prompts."""
    plan = Plan(_loads(clients), blocks, rounds)
    corpus = load_corpus(SHIPPED_CORPUS)
    with _served(corpus) as client:
        engine_url, checkpoint = client.readiness().engine_url, client.readiness().checkpoint
        asked = corpus.split("test")[: questions + 1]
        workload = [_calls(client, checkpoint, question, top_k) for question in asked]
        comparisons = asyncio.run(_measure(client.url, engine_url, workload, plan))
    if as_json:
        rows = [{"cache": cache, **asdict(comparison)} for cache, comparison in comparisons]
        result = {"environment": environment(), "comparisons": rows}
        click.echo(json.dumps(result, indent=2))
    else:
        click.echo(_table(comparisons))


def _loads(clients: str) -> tuple[int, ...]:
    try:
        loads = tuple(int(number) for number in clients.split(","))
    except ValueError:
        loads = ()
    if not loads or min(loads) < 1:
        raise click.BadParameter(
            f"{clients!r} is no list of whole numbers from 1, such as 1,16", param_hint="--clients"
        )
    return loads


@contextmanager
def _served(corpus: Corpus) -> Iterator[Client]:
    """Index the corpus into a store of its own and serve it with the default model."""
    # Lets the engine, which only this machine can reach, empty its prefix cache when it is asked to.
    os.environ["VLLM_SERVER_DEV_MODE"] = "1"
    with tempfile.TemporaryDirectory(prefix="openbook-bench-") as name:
        folder = Path(name)
        write_jsonl(folder, corpus)
        commands = OpenbookCommands()
        commands.ingest(folder / "documents.jsonl", folder / "store", COLLECTION, Indexing(), folder / "ingest.log")
        with commands.serve(None, folder / "store", None, folder / "serve.log") as client:
            yield client


def _calls(client: Client, checkpoint: str, question: Question, top_k: int) -> Contenders:
    request = AnswerRequest(question=question.question, collection=COLLECTION, retriever="dense", top_k=top_k)
    messages = [message.model_dump() for message in client.prompt(request).messages]
    decoding = request.decoding.model_dump(mode="json")
    body = {"model": checkpoint, "messages": messages, **decoding}
    return Contenders(
        openbook=Call("/v1/answers", request.model_dump(mode="json")), baseline=Call("/v1/chat/completions", body)
    )


@dataclass(frozen=True)
class Plan:
    """How the questions are sent, in each state of the cache."""

    loads: tuple[int, ...]
    """Requests under way at once, one comparison for each."""
    blocks: int
    rounds: int


@dataclass(frozen=True)
class Sides:
    """The two servers."""

    openbook: httpx.AsyncClient
    baseline: httpx.AsyncClient
    fixed_start: Call
    """A question outside the workload: it leaves the fixed start of every prompt in the engine's cache."""

    async def send(self, block: Sequence[Contenders], clients: int, cache: Cache, openbook_first: bool) -> Pair:
        """Send a block to both, one after the other."""
        batches = {}
        for side in (True, False) if openbook_first else (False, True):
            if cache == "new":
                await self._forget()
            client = self.openbook if side else self.baseline
            calls = [each.openbook if side else each.baseline for each in block]
            batches[side] = await closed_loop(client, calls, clients)
        _require_same_prompts(batches[True], batches[False])
        return Pair(openbook=batches[True], baseline=batches[False])

    async def _forget(self) -> None:
        (await self.baseline.post("/reset_prefix_cache")).raise_for_status()
        await closed_loop(self.baseline, [self.fixed_start], 1)


async def _measure(
    url: str, engine_url: str, workload: Sequence[Contenders], plan: Plan
) -> list[tuple[Cache, Comparison]]:
    most = max(plan.loads)
    limits = httpx.Limits(max_connections=most, max_keepalive_connections=most)
    async with (
        httpx.AsyncClient(base_url=url, timeout=TIMEOUT_SECONDS, limits=limits, headers=authorization()) as openbook,
        httpx.AsyncClient(base_url=engine_url, timeout=TIMEOUT_SECONDS, limits=limits) as baseline,
    ):
        sides = Sides(openbook, baseline, fixed_start=workload[0].baseline)
        return [
            (cache, await _measure_load(sides, workload[1:], clients, cache, plan))
            for cache in CACHES
            for clients in plan.loads
        ]


async def _measure_load(
    sides: Sides, workload: Sequence[Contenders], clients: int, cache: Cache, plan: Plan
) -> Comparison:
    size = -(-len(workload) // plan.blocks)
    pairs: list[Pair] = []
    with Progress(f"{cache} questions, {clients} at once", len(workload) * plan.rounds, "questions") as progress:
        for start in range(0, len(workload), size):
            block = workload[start : start + size]
            if cache == "repeated":
                await sides.send(block, clients, cache, openbook_first=False)
            for _ in range(plan.rounds):
                pairs.append(await sides.send(block, clients, cache, openbook_first=len(pairs) % 2 == 0))
                progress.advance(len(block))
    return compare(clients, pairs)


def _require_same_prompts(ours: Batch, theirs: Batch) -> None:
    """Refuse a comparison in which the engine was not given as many prompt tokens by both."""
    for mine, raw in zip(ours.responses, theirs.responses, strict=True):
        if mine["usage"]["prompt_tokens"] != raw["usage"]["prompt_tokens"]:  # type: ignore[index]
            raise click.ClickException(f"the prompts differ: {mine['usage']} against {raw['usage']}")


def _table(comparisons: Sequence[tuple[Cache, Comparison]]) -> str:
    heading = (
        f"{'cache':<8} {'clients':>7} {'requests':>8} {'/v1/answers':>12} {'raw vLLM':>9} {'ratio':>6} {'blocks':>13} "
    )
    lines = [heading + f"{'p50':>9} {'raw p50':>9} {'overhead':>9}"]
    lines += [
        f"{cache:<8} {row.clients:>7} {row.requests:>8} "
        f"{row.openbook_per_second:>10.2f}/s {row.baseline_per_second:>7.2f}/s "
        f"{row.throughput_ratio:>6.3f} {row.ratio_low:>6.3f}-{row.ratio_high:.3f} "
        f"{row.openbook_p50_ms:>6.0f} ms {row.baseline_p50_ms:>6.0f} ms {row.overhead_ms:>6.1f} ms"
        for cache, row in comparisons
    ]
    return "\n".join(lines)
