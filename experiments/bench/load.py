"""A closed-loop load: a fixed number of clients, each sending its next request when the last is answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx


@dataclass(frozen=True)
class Call:
    """One request of a workload."""

    path: str
    body: dict[str, object]


@dataclass(frozen=True)
class Batch:
    """What a batch of calls took, and what came back, in the order of the calls."""

    seconds: float
    latencies_ms: tuple[float, ...]
    responses: tuple[dict[str, object], ...]


async def closed_loop(client: httpx.AsyncClient, calls: Sequence[Call], clients: int) -> Batch:
    """Send all calls with `clients` requests under way at once.

    Raises:
        httpx.HTTPStatusError: a call was refused; a benchmark with failures measures nothing.
    """
    latencies = [0.0] * len(calls)
    responses: list[dict[str, object]] = [{}] * len(calls)
    todo = iter(enumerate(calls))

    async def one_client() -> None:
        for index, call in todo:
            sent = time.perf_counter()
            response = await client.post(call.path, json=call.body)
            latencies[index] = (time.perf_counter() - sent) * 1000
            responses[index] = response.raise_for_status().json()

    started = time.perf_counter()
    await asyncio.gather(*(one_client() for _ in range(clients)))
    return Batch(time.perf_counter() - started, tuple(latencies), tuple(responses))
