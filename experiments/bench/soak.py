"""`openbook bench soak`: half an hour of everything at once, against the real server.

Clients ask (streaming and not) and search while documents are replaced and deleted. Every passage and every citation is
compared with the text that was current when it was asked for; the memory of the server and of its engine is watched.
It measures no speed.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import psutil

import terminal
from experiments.bench.memory import Memory, MemoryWatch, served_process
from experiments.bench.mixed_load import MixedLoad
from experiments.bench.options import AS_JSON, ENGINE_URL
from experiments.commands import OpenbookCommands
from experiments.environment import environment

SAMPLE_SECONDS = 2.0
LEAST_MINUTES_TO_JUDGE = 10.0
"""A shorter run fills caches for most of its time, and its growth says nothing."""
MOST_GROWTH = 0.1
"""A process leaks that would grow by more than this part of its size in as much time again."""


@dataclass(frozen=True)
class Soak:
    """What came of it."""

    minutes: float
    done: dict[str, int]
    faults: dict[str, int]
    examples: tuple[str, ...]
    memory: dict[str, Memory]
    """Of `server` and `engine`."""

    @property
    def leaks(self) -> list[str]:
        """Return which of the processes grow, where the run was long enough to tell."""
        if self.minutes < LEAST_MINUTES_TO_JUDGE:
            return []
        return [
            name
            for name, memory in self.memory.items()
            if memory.growth_mib is not None and memory.growth_mib > MOST_GROWTH * memory.last_mib
        ]


@click.command()
@click.option("--minutes", default=30.0, show_default=True, type=click.FloatRange(0.1, 600), help="How long.")
@click.option("--documents", default=60, show_default=True, type=click.IntRange(2), help="Documents at most.")
@click.option("--askers", default=6, show_default=True, type=click.IntRange(1), help="Clients that ask; half stream.")
@click.option("--searchers", default=2, show_default=True, type=click.IntRange(0), help="Clients that search.")
@ENGINE_URL
@AS_JSON
def soak(*, minutes: float, documents: int, askers: int, searchers: int, engine_url: str | None, as_json: bool) -> None:
    """Ask, search, upload and delete at once for --minutes: no error, no stale passage, no leak?

    Exits with 1 where anything was wrong. Takes a minute longer than --minutes, for the start.
    """
    with tempfile.TemporaryDirectory(prefix="openbook-soak-") as name:
        folder = Path(name)
        serving = OpenbookCommands(engine_url).serve(None, folder / "store", None, folder / "serve.log")
        with serving as client:
            terminal.note(f"Mixed load for {terminal.duration(minutes * 60)}")
            result = measure(client.url, minutes, documents, askers, searchers)
    if as_json:
        leaks = {"leaks": result.leaks}
        click.echo(json.dumps({"environment": environment(), **asdict(result), **leaks}, indent=2))
    else:
        click.echo(_text(result))
    if result.faults or result.leaks:
        raise click.exceptions.Exit(1)


def measure(url: str, minutes: float, documents: int, askers: int, searchers: int) -> Soak:
    """Put the load on an `openbook serve` that this process started."""
    load = MixedLoad(url, documents)
    server = served_process(url)
    with ExitStack() as stack:
        watches = {"server": stack.enter_context(MemoryWatch(server, every_s=SAMPLE_SECONDS))}
        if (engine := _engine_of(server)) is not None:
            watches["engine"] = stack.enter_context(MemoryWatch(engine, with_children=True, every_s=SAMPLE_SECONDS))
        asyncio.run(load.run(minutes * 60, askers, searchers))
        memory = {name: watch.memory() for name, watch in watches.items()}
    tally = load.tally
    return Soak(minutes, dict(tally.done), dict(tally.faults), tuple(tally.examples), memory)


def _engine_of(server: int) -> int | None:
    """Return the process that guards the server's vLLM; None where it has none of its own."""
    children = psutil.Process(server).children(recursive=True)
    return next((child.pid for child in children if "app.serving.guard" in child.cmdline()), None)


def _text(result: Soak) -> str:
    lines = [f"{result.minutes:g} minutes: " + ", ".join(f"{count:,} {what}" for what, count in result.done.items())]
    for name, memory in result.memory.items():
        growth = "too short to tell a growth"
        if memory.growth_mib is not None:
            growth = f"second half {memory.growth_mib:+.0f} MiB in as much time again"
        lines.append(f"Memory of the {name}: {memory.first_mib:.0f} to {memory.last_mib:.0f} MiB; {growth}.")
    lines.append("Wrong: " + (", ".join(f"{count} {what}" for what, count in result.faults.items()) or "nothing") + ".")
    lines += [f"  {example}" for example in result.examples]
    return "\n".join([*lines, *(f"The {name} leaks." for name in result.leaks)])
