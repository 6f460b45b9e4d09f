"""Many clients in a process of their own: `python -m experiments.bench.crowd JOB REPORT`, two JSON files.

Each client asks, and when it is refused waits as long as it was told to before it asks again. A crowd in the process
that measures would wait for itself.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any

from experiments.bench.load import NO_ANSWER, Call, Outcome, target
from experiments.processes import run_to_end

REFUSED = 429
UNTOLD_PAUSE_S = 1.0
"""How long a client waits after a refusal that does not say."""


@dataclass(frozen=True)
class Job:
    """What a crowd does."""

    url: str
    path: str
    bodies: Sequence[dict[str, Any]]
    """Asked in turn, again and again."""
    clients: int
    requests: int
    """Nothing new is sent after so many."""
    seconds: float
    """Nor after so long."""
    patience: float = 1.0
    """The part of `Retry-After` that a refused client waits; 0 asks again at once."""
    timeout_s: float = 180.0
    """A request without an answer for so long hangs."""


@dataclass(frozen=True)
class Report:
    """What became of every request; latencies in milliseconds."""

    seconds: float
    accepted_ms: Sequence[float]
    refused_ms: Sequence[float]
    refused_without_retry_after: int
    failed: dict[str, int]
    """Status to how many, of all that were neither answered nor refused with 429."""
    unanswered: int
    """No answer at all: a connection that broke, or a request that hangs."""

    @property
    def sent(self) -> int:
        """How many requests there were."""
        return len(self.accepted_ms) + len(self.refused_ms) + sum(self.failed.values()) + self.unanswered


def run_crowd(job: Job, folder: Path, name: str) -> Report:
    """Let a crowd do its job in a process of its own.

    Raises:
        StageFailed: The process failed.
    """
    asked, told = folder / f"{name}-job.json", folder / f"{name}-report.json"
    asked.write_text(json.dumps(asdict(job)), encoding="utf-8")
    run_to_end(["experiments.bench.crowd", str(asked), str(told)], folder / f"{name}.log", f"The load {name!r}")
    return Report(**json.loads(told.read_text(encoding="utf-8")))


async def send_all(job: Job) -> Report:
    """Be the crowd."""
    outcomes: list[Outcome] = []
    calls = cycle([Call(job.path, body) for body in job.bodies])
    started = time.perf_counter()
    sent = 0

    async with target(job.url, job.clients, job.timeout_s) as server:

        async def client() -> None:
            nonlocal sent
            while sent < job.requests and time.perf_counter() - started < job.seconds:
                sent += 1
                outcome = await server.send(next(calls))
                # What was answered is of no interest, and ten thousand answers would fill the memory.
                outcomes.append(replace(outcome, reply={}))
                if outcome.status == REFUSED:
                    await asyncio.sleep(job.patience * (outcome.retry_after_s or UNTOLD_PAUSE_S))

        await asyncio.gather(*(client() for _ in range(job.clients)))
        seconds = time.perf_counter() - started
    refused = [outcome for outcome in outcomes if outcome.status == REFUSED]
    known = {200, REFUSED, NO_ANSWER}
    return Report(
        seconds=seconds,
        accepted_ms=[outcome.latency_ms for outcome in outcomes if outcome.ok],
        refused_ms=[outcome.latency_ms for outcome in refused],
        refused_without_retry_after=sum(outcome.retry_after_s is None for outcome in refused),
        failed=dict(Counter(str(outcome.status) for outcome in outcomes if outcome.status not in known)),
        unanswered=sum(outcome.status == NO_ANSWER for outcome in outcomes),
    )


def main() -> None:
    """Read the job, do it, write the report."""
    job = Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    report = asyncio.run(send_all(job))
    Path(sys.argv[2]).write_text(json.dumps(asdict(report)), encoding="utf-8")


if __name__ == "__main__":
    main()
