"""vllm-router: one URL in front of the replicas of a pool.

It sends prompts that share their beginning to the replica that has it in its prefix cache, balances where that one has
more to do than the others, and sends what a dying replica leaves unanswered to another one. It is told which replicas
there are while it runs: `POST /add_worker` and `/remove_worker`. What was under way at a removed one is finished.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx

from app.errors import EngineFailed
from app.serving.engine_process import ServerProcess, free_port

ADMIN_SECONDS = 10.0
MOST_REQUESTS = 4096
"""Requests at the same time; the app's own limit comes first."""


def router_command(port: int, metrics_port: int, replicas: Sequence[str]) -> list[str]:
    """Return the arguments that start the router on loopback before the replicas at these URLs, which must answer."""
    command = [sys.executable, "-m", "vllm_router.launch_router", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--worker-urls", *replicas, "--policy", "cache_aware"]
    # All prompts of one arm begin alike, so that by its own threshold of 32 the router would load one replica alone.
    command += ["--balance-abs-threshold", "1", "--balance-rel-threshold", "1.1"]
    command += ["--health-check-interval-secs", "1", "--health-check-timeout-secs", "5"]
    command += ["--health-failure-threshold", "2", "--health-success-threshold", "1"]
    command += ["--worker-startup-check-interval", "1"]
    # A retry may meet the dead replica again, so they must go on for longer than it takes to notice the death: 5 s.
    command += ["--retry-max-retries", "8", "--retry-initial-backoff-ms", "100", "--retry-max-backoff-ms", "2000"]
    command += ["--retry-backoff-multiplier", "1.5"]
    # The app counts a pool as broken by itself; a breaker would refuse for a minute what the supervisor has mended.
    command += ["--disable-circuit-breaker", "--max-concurrent-requests", str(MOST_REQUESTS)]
    command += ["--prometheus-host", "127.0.0.1", "--prometheus-port", str(metrics_port), "--log-level", "warning"]
    return command


def router_process(port: int, replicas: Sequence[str], log: Path) -> ServerProcess:
    """Start the router."""
    command = router_command(port, free_port(), replicas)
    return ServerProcess("vllm-router", command, dict(os.environ), f"http://127.0.0.1:{port}", log)


class RouterAdmin:
    """Tells a running router which replicas there are."""

    def __init__(self, url: str) -> None:
        """Take the router's URL."""
        self._url = url

    def replicas(self) -> frozenset[str]:
        """Return the URLs of the replicas that it sends requests to.

        Raises:
            EngineFailed: It does not answer.
        """
        return frozenset(self._call("GET", "/list_workers").json()["urls"])

    def add(self, replica: str) -> None:
        """Send requests to a replica too; it must answer. Raises as `replicas` does."""
        self._call("POST", "/add_worker", replica)

    def remove(self, replica: str) -> None:
        """Send no more requests to a replica. Raises as `replicas` does."""
        self._call("POST", "/remove_worker", replica)

    def _call(self, method: str, path: str, replica: str | None = None) -> httpx.Response:
        parameters = {} if replica is None else {"url": replica}
        try:
            reply = httpx.request(
                method, f"{self._url}{path}", params=parameters, timeout=ADMIN_SECONDS, trust_env=False
            )
            return reply.raise_for_status()
        except httpx.HTTPError as error:
            raise EngineFailed(f"vllm-router at {self._url} did not do {path}: {error}.") from error
