"""`openbook bench overload`: far more clients than the server may work for.

The baseline is the same server with as many clients as it may work for at once. Under overload those that are let in
must be answered as fast as that, the others refused at once with 429, nobody left without an answer, and the server's
memory must stay where it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

import terminal
from app.schemas.answer import AnswerRequest
from experiments.bench.crowd import Job, Report, run_crowd
from experiments.bench.latencies import Latencies
from experiments.bench.memory import Memory, MemoryWatch, served_process
from experiments.bench.options import AS_JSON, ENGINE_URL
from experiments.bench.served import COLLECTION, indexed
from experiments.columns import aligned
from experiments.environment import environment
from experiments.errors import StageFailed

QUESTIONS = 64
BASELINE_REQUESTS = 192
HEADING = ("clients", "sent", "answered", "refused", "failed", "unanswered", "answered/s", "p50 ms", "p90", "p99")


@dataclass(frozen=True)
class Plan:
    """How the server is overloaded."""

    clients: int
    limit: int
    """Requests that the server works on at once; further ones are refused, none waits."""
    requests: int
    seconds: float
    patience: float = 1.0
    baseline_requests: int = BASELINE_REQUESTS

    def server_environment(self) -> dict[str, str]:
        """Return what the server is told."""
        return {"OPENBOOK_MAX_IN_FLIGHT": str(self.limit), "OPENBOOK_MAX_QUEUED": "0"}


@dataclass(frozen=True)
class Overload:
    """What came of it; latencies in milliseconds."""

    alone: Latencies
    """Of `limit` clients alone."""
    sent: int
    answered: int
    refused: int
    failed: dict[str, int]
    unanswered: int
    seconds: float
    accepted: Latencies
    refusals: Latencies | None
    refused_without_retry_after: int
    accepted_p50_ratio: float
    """The median of the accepted under overload over that of `limit` clients alone; 1 is no loss."""
    memory: Memory
    """Of the server's own process, without the engine."""
    growth_mib_per_10000_requests: float | None


@click.command()
@click.option("--clients", default=200, show_default=True, type=click.IntRange(2), help="Clients that ask.")
@click.option("--limit", default=16, show_default=True, type=click.IntRange(1), help="Requests worked on at once.")
@click.option("--requests", default=10_000, show_default=True, type=click.IntRange(1), help="Sent at most in all.")
@click.option("--seconds", default=600.0, show_default=True, type=click.FloatRange(1), help="Time for them at most.")
@click.option(
    "--patience",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0, 10),
    help="The part of Retry-After that a refused client waits; 0 asks again at once.",
)
@ENGINE_URL
@AS_JSON
def overload(*, engine_url: str | None, as_json: bool, **options: Any) -> None:
    """Overload the server: are the accepted answered in time, and the others refused at once?

    Exits with 1 where a request failed or got no answer. About 5 minutes on two cores, and never more than 15.
    """
    plan = Plan(**options)
    with indexed() as store, store.served(plan.server_environment(), engine_url) as client:
        asked = store.corpus.split("test")[:QUESTIONS]
        requests_of_all = [AnswerRequest(question=each.question, collection=COLLECTION) for each in asked]
        result = measure(client.url, requests_of_all, plan, store.folder)
    if as_json:
        click.echo(json.dumps({"environment": environment(), "plan": asdict(plan), **asdict(result)}, indent=2))
    else:
        click.echo(_table(plan, result))
    if result.failed or result.unanswered:
        raise click.exceptions.Exit(1)


def measure(url: str, asked: Sequence[AnswerRequest], plan: Plan, folder: Path) -> Overload:
    """Ask with `limit` clients, then with all.

    Args:
        url: An `openbook serve` that this process started with the plan's `server_environment`.
        asked: In turn; each was asked before it counts, so that both loads find them in the engine's cache.
        plan: How much.
        folder: Where the load generators leave their jobs, reports and logs.

    Raises:
        StageFailed: A load generator failed, the server refused what it may work on, or it answered nothing.
    """
    bodies = [request.model_dump(mode="json") for request in asked]

    def load(name: str, clients: int, most: int) -> Report:
        return run_crowd(Job(url, "/v1/answers", bodies, clients, most, plan.seconds, plan.patience), folder, name)

    terminal.note(f"{plan.limit} clients alone")
    _require_all_answered(load("warm-up", plan.limit, len(bodies)))
    alone = load("alone", plan.limit, plan.baseline_requests)
    _require_all_answered(alone)
    terminal.note(f"{plan.clients} clients, up to {plan.requests:,} requests")
    with MemoryWatch(served_process(url)) as watch:
        crowded = load("overload", plan.clients, plan.requests)
    return _overload(alone, crowded, watch.memory())


def _require_all_answered(report: Report) -> None:
    if report.sent != len(report.accepted_ms):
        raise StageFailed(
            f"Of {report.sent} requests within the server's limit {len(report.accepted_ms)} were answered, "
            f"{len(report.refused_ms)} refused; others: {report.failed}, without an answer: {report.unanswered}."
        )


def _overload(alone: Report, crowded: Report, memory: Memory) -> Overload:
    if not crowded.accepted_ms:
        raise StageFailed(f"Of {crowded.sent} requests none was answered: {crowded.failed}.")
    accepted, baseline = Latencies.of(crowded.accepted_ms), Latencies.of(alone.accepted_ms)
    growth = memory.growth_mib
    return Overload(
        alone=baseline,
        sent=crowded.sent,
        answered=len(crowded.accepted_ms),
        refused=len(crowded.refused_ms),
        failed=crowded.failed,
        unanswered=crowded.unanswered,
        seconds=crowded.seconds,
        accepted=accepted,
        refusals=Latencies.of(crowded.refused_ms) if crowded.refused_ms else None,
        refused_without_retry_after=crowded.refused_without_retry_after,
        accepted_p50_ratio=accepted.p50 / baseline.p50,
        memory=memory,
        growth_mib_per_10000_requests=None if growth is None else growth * 10_000 / crowded.sent,
    )


def _table(plan: Plan, result: Overload) -> str:
    alone, memory = result.alone, result.memory
    rows = [
        (str(plan.limit), f"{alone.requests:,}", f"{alone.requests:,}", "0", "0", "0", "", *alone.cells()),
        (
            *(str(plan.clients), f"{result.sent:,}", f"{result.answered:,}", f"{result.refused:,}"),
            *(str(sum(result.failed.values())), str(result.unanswered), f"{result.answered / result.seconds:.2f}"),
            *result.accepted.cells(),
        ),
    ]
    lines = [*aligned([HEADING, *rows]), "", f"Accepted against alone, medians: {result.accepted_p50_ratio:.2f} times."]
    if result.refusals is not None:
        p50, p90, p99 = result.refusals.cells()
        lines.append(f"Refused with 429 after {p50} ms (p50), {p90} ms (p90), {p99} ms (p99).")
    if result.refused_without_retry_after:
        lines.append(f"Without Retry-After: {result.refused_without_retry_after}.")
    growth = result.growth_mib_per_10000_requests
    told = "too short to tell a growth" if growth is None else f"{growth:+.1f} MiB per 10,000 requests (second half)"
    lines.append(f"Memory of the server: {memory.first_mib:.0f} to {memory.last_mib:.0f} MiB; {told}.")
    return "\n".join(lines)
