"""`openbook bench serving`: what the REST API costs on top of the engine.

Contenders: `POST /v1/answers` (embed the question, search, write the prompt, generate, resolve citations) and the
engine itself, given the identical final messages and decoding over its own `POST /v1/chat/completions`.

Every block of questions is sent once before it counts, so that the engine has seen each prompt; then to both contenders
in turn. That state is the harshest for the API: the engine does least, so that the same overhead weighs most.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import httpx

from app.schemas import AnswerRequest
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
        asked = corpus.split("test")[:questions]
        workload = [_calls(client, checkpoint, question, top_k) for question in asked]
        comparisons = asyncio.run(_measure(client.url, engine_url, workload, plan))
    if as_json:
        result = {"environment": environment(), "comparisons": [asdict(comparison) for comparison in comparisons]}
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
    """How the questions are sent."""

    loads: tuple[int, ...]
    """Requests under way at once, one comparison for each."""
    blocks: int
    rounds: int


@dataclass(frozen=True)
class Sides:
    """The two servers."""

    openbook: httpx.AsyncClient
    baseline: httpx.AsyncClient

    async def send(self, block: Sequence[Contenders], clients: int, openbook_first: bool) -> Pair:
        """Send a block to both, one after the other."""
        if openbook_first:
            ours = await closed_loop(self.openbook, [calls.openbook for calls in block], clients)
            theirs = await closed_loop(self.baseline, [calls.baseline for calls in block], clients)
        else:
            theirs = await closed_loop(self.baseline, [calls.baseline for calls in block], clients)
            ours = await closed_loop(self.openbook, [calls.openbook for calls in block], clients)
        _require_same_prompts(ours, theirs)
        return Pair(openbook=ours, baseline=theirs)


async def _measure(url: str, engine_url: str, workload: Sequence[Contenders], plan: Plan) -> list[Comparison]:
    most = max(plan.loads)
    limits = httpx.Limits(max_connections=most, max_keepalive_connections=most)
    async with (
        httpx.AsyncClient(base_url=url, timeout=TIMEOUT_SECONDS, limits=limits) as openbook,
        httpx.AsyncClient(base_url=engine_url, timeout=TIMEOUT_SECONDS, limits=limits) as baseline,
    ):
        sides = Sides(openbook, baseline)
        return [await _measure_load(sides, workload, clients, plan) for clients in plan.loads]


async def _measure_load(sides: Sides, workload: Sequence[Contenders], clients: int, plan: Plan) -> Comparison:
    size = -(-len(workload) // plan.blocks)
    pairs: list[Pair] = []
    with Progress(f"{clients} at once", len(workload) * (plan.rounds + 1), "questions") as progress:
        for start in range(0, len(workload), size):
            block = workload[start : start + size]
            # Not counted: the engine sees each prompt, and the API each question, a first time.
            await sides.send(block, clients, openbook_first=False)
            progress.advance(len(block))
            for _ in range(plan.rounds):
                pairs.append(await sides.send(block, clients, openbook_first=len(pairs) % 2 == 0))
                progress.advance(len(block))
    return compare(clients, pairs)


def _require_same_prompts(ours: Batch, theirs: Batch) -> None:
    """Refuse a comparison in which the engine was not given as many prompt tokens by both."""
    for mine, raw in zip(ours.responses, theirs.responses, strict=True):
        if mine["usage"]["prompt_tokens"] != raw["usage"]["prompt_tokens"]:  # type: ignore[index]
            raise click.ClickException(f"the prompts differ: {mine['usage']} against {raw['usage']}")


def _table(comparisons: Sequence[Comparison]) -> str:
    heading = f"{'clients':>7} {'requests':>8} {'/v1/answers':>12} {'raw vLLM':>9} {'ratio':>6} {'blocks':>13} "
    lines = [heading + f"{'p50':>9} {'raw p50':>9} {'overhead':>9}"]
    lines += [
        f"{row.clients:>7} {row.requests:>8} {row.openbook_per_second:>10.2f}/s {row.baseline_per_second:>7.2f}/s "
        f"{row.throughput_ratio:>6.3f} {row.ratio_low:>6.3f}-{row.ratio_high:.3f} "
        f"{row.openbook_p50_ms:>6.0f} ms {row.baseline_p50_ms:>6.0f} ms {row.overhead_ms:>6.1f} ms"
        for row in comparisons
    ]
    return "\n".join(lines)
