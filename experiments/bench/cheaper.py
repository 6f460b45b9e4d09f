"""`openbook bench cheaper`: what makes answering from documents cheaper than the plain way, at which accuracy.

First every way is asked the same questions in a closed loop. Then plain retrieval and all of it together get the same
questions at the same moments, below and above what plain retrieval can answer; both servers run, and take turns.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import click

import terminal
from corpus.schema import Question
from experiments.bench.goodput import TRAFFICS, Goodput, Load, load, measure
from experiments.bench.load import target
from experiments.bench.measured_way import MARGIN, Asked, Blocks, Row, Servers, ask, begin_cold, row
from experiments.bench.options import AS_JSON
from experiments.bench.served import Store, indexed
from experiments.bench.ways import EXTRA, SHORT, SHORT_TOKENS, WAYS, Way, by_engine, chosen
from experiments.client import Client
from experiments.columns import aligned
from experiments.commands import Indexing
from experiments.environment import environment
from experiments.results import Estimate

BLOCKS = 3
"""The questions are asked in so many blocks; the first is enough where only the engine differs."""
SHARES = (0.8, 1.5)
"""Rates of the arriving questions, as shares of what plain retrieval answers in a closed loop."""
HEADING = (
    *("way", "questions", "per second", "times", "against", "times plain", "repeated", "p50 ms", "p90", "p99"),
    *("prompt tokens", "right %", "against plain", "verdict"),
)
GOODPUT_HEADING = (
    *("traffic", "of capacity", "way", "came", "per second", "in time", "right in time", "goodput/s"),
    *("p50 ms", "p90", "p99"),
)


@dataclass(frozen=True)
class Plan:
    """How much is asked."""

    questions: int
    clients: int
    seconds: float
    """Length of each Poisson process; 0 leaves them out."""
    deadline_s: float
    again: int = 48
    """Questions asked again with a warm cache: no more than the cache of plain retrieval holds."""

    def blocks(self, questions: Sequence[Question]) -> Blocks:
        """Cut the questions into blocks, each from all over the corpus."""
        asked = questions[: self.questions]
        return [asked[start::BLOCKS] for start in range(BLOCKS)]


@click.command()
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([*WAYS, *EXTRA]),
    help="Measure this way and those that it is compared with; repeatable. By default all but "
    f"{', '.join(list(EXTRA)[:-1])} and {list(EXTRA)[-1]}.",
)
@click.option("--questions", default=200, show_default=True, type=click.IntRange(BLOCKS), help="Asked each way.")
@click.option("--clients", default=16, show_default=True, type=click.IntRange(1), help="Requests under way at once.")
@click.option(
    "--seconds", default=30.0, show_default=True, type=click.FloatRange(0), help="Of arrivals at each rate; 0: none."
)
@click.option("--deadline", default=10.0, show_default=True, type=click.FloatRange(0.1), help="Seconds for an answer.")
@AS_JSON
def cheaper(
    *, only: tuple[str, ...], questions: int, clients: int, seconds: float, deadline: float, as_json: bool
) -> None:
    """Measure what makes answers cheaper than plain retrieval, with the accuracy of each way.

    Eight starts of vLLM, about 25 minutes in all on two cores; `--only top-1 --seconds 0` takes 6.
    """
    plan = Plan(questions, clients, seconds, deadline)
    ways = chosen(only)
    with indexed() as store:
        store.add(SHORT, Indexing(chunk_tokens=SHORT_TOKENS))
        asked = _ask_all(store, ways, plan)
        rows = _rows(store, asked)
        goodputs = _goodputs(store, asked, plan) if seconds and len(ways) > 1 else []
    if as_json:
        told = {"plan": asdict(plan), "margin": MARGIN, "ways": [asdict(each) for each in rows]}
        told |= {"goodput": [asdict(each) for each in goodputs]}
        click.echo(json.dumps({"environment": environment(), **told}, indent=2))
    else:
        click.echo(_tables(rows, goodputs, plan))


def _ask_all(store: Store, ways: Sequence[Way], plan: Plan) -> dict[str, Asked]:
    blocks = plan.blocks(store.corpus.split("test"))
    asked: dict[str, Asked] = {}
    for engine, served in by_engine(ways):
        with store.served(engine.environment()) as client:
            for way in served:
                terminal.note(f"{way.name}: {way.what}")
                asked[way.name] = asyncio.run(_ask(client, way, blocks[:1] if way.same_prompts else blocks, plan))
    return asked


async def _ask(client: Client, way: Way, blocks: Blocks, plan: Plan) -> Asked:
    engine_url = client.readiness().engine_url
    async with target(client.url, plan.clients) as openbook, target(engine_url, 1, with_key=False) as engine:
        return await ask(way, blocks, plan.again, plan.clients, Servers(openbook, engine))


def _rows(store: Store, asked: dict[str, Asked]) -> list[Row]:
    clusters = {question.id: question.fact_id or question.id for question in store.corpus.questions}
    plain = asked["plain"]
    return [row(each, asked[each.way.against or "plain"], plain, clusters) for each in asked.values()]


def _goodputs(store: Store, asked: dict[str, Asked], plan: Plan) -> list[Goodput]:
    """Let questions come at plain retrieval and at the last way that was asked for."""
    plain, other = asked["plain"], asked.get("together") or list(asked.values())[-1]
    capacity = sum(len(batch.outcomes) for batch in plain.cold) / sum(batch.seconds for batch in plain.cold)
    questions = store.corpus.split("test")
    loads = [load(traffic, questions, capacity, share, plan.seconds) for traffic in TRAFFICS for share in SHARES]
    with (
        store.served(plain.way.engine.environment()) as first,
        store.served(other.way.engine.environment()) as second,
    ):
        return asyncio.run(_send([(plain.way, first), (other.way, second)], loads, plan.deadline_s))


async def _send(sides: Sequence[tuple[Way, Client]], loads: Sequence[Load], deadline_s: float) -> list[Goodput]:
    goodputs = []
    for number, drawn in enumerate(loads):
        terminal.note(f"{drawn.traffic} questions, {drawn.per_second:.2f} a second")
        most = len(drawn.questions) + 1
        # They take turns in going first.
        for way, client in sides if number % 2 == 0 else sides[::-1]:
            engine_url = client.readiness().engine_url
            async with target(client.url, most) as openbook, target(engine_url, 1, with_key=False) as engine:
                await begin_cold(way, Servers(openbook, engine))
                goodputs.append(await measure(way, drawn, deadline_s, openbook))
    return goodputs


def _tables(rows: Sequence[Row], goodputs: Sequence[Goodput], plan: Plan) -> str:
    lines = aligned([HEADING, *(_cells(each) for each in rows)])
    lines += ["", *(f"{each.name}: {each.what}" for each in rows)]
    lines += [
        "",
        "Right: the answer contains an accepted spelling. Repeated: questions a second whose prompts the engine has in "
        f"its cache. As accurate: at most {MARGIN:.0%} of the questions lost against plain retrieval, paired, 95 %.",
    ]
    if goodputs:
        heading = f"Goodput: right answers within {plan.deadline_s:g} s per second of Poisson arrivals, cache cold."
        lines += ["", heading, *aligned([GOODPUT_HEADING, *(_goodput_cells(each) for each in goodputs)])]
    return "\n".join(lines)


def _cells(each: Row) -> tuple[str, ...]:
    return (
        *(each.name, str(each.questions), f"{each.per_second:.2f}", f"{each.ratio:.2f}", each.against or "-"),
        *(f"{each.times_plain:.2f}", f"{each.warm_per_second:.2f}", *each.latency.cells()),
        *(f"{each.prompt_tokens:.0f}", f"{each.accuracy.value:.0%}", _points(each.difference), each.verdict),
    )


def _points(difference: Estimate) -> str:
    return f"{100 * difference.value:+.1f} ({100 * difference.low:+.1f} to {100 * difference.high:+.1f})"


def _goodput_cells(each: Goodput) -> tuple[str, ...]:
    return (
        *(each.traffic, f"{each.of_capacity:.0%}", each.way, str(each.questions), f"{each.per_second:.2f}"),
        *(str(each.in_time), str(each.correct_in_time), f"{each.goodput:.2f}"),
        *(each.latency.cells() if each.latency else ("-", "-", "-")),
    )
