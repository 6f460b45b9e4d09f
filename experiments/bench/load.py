"""Loads of HTTP requests, and what came back of them.

A closed loop has a fixed number of clients, each of which sends its next request when its last is answered. An open
loop sends at moments that were fixed before, whatever has been answered, and counts from these moments: a server that
makes its clients wait cannot hide it (coordinated omission).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from corpus.api_key import authorization
from experiments.errors import ServerFailed

TIMEOUT_SECONDS = 300.0
IDLE_SECONDS = 4.0
"""Servers close an idle connection after five seconds; a request that is sent just then is lost."""
NO_ANSWER = 0
"""The status of a request that got no answer: the connection failed, or the time was over."""


@dataclass(frozen=True)
class Call:
    """One request of a workload; it is streamed where its body says `stream`."""

    path: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What became of one call."""

    status: int
    latency_ms: float
    """From when it was to be sent until its last byte."""
    first_token_ms: float | None = None
    """Until the first text of a streamed answer; None where it was not streamed or had no text."""
    reply: Mapping[str, Any] = field(default_factory=dict)
    """The JSON of the answer; of a stream its last event, which is the whole answer or its usage."""
    retry_after_s: float | None = None
    """When it is worth trying again, where a refusal says so."""

    @property
    def ok(self) -> bool:
        """Whether it was answered whole."""
        return self.status == 200


@dataclass(frozen=True)
class Batch:
    """What a batch of calls took, and what came back, in the order of the calls."""

    seconds: float
    outcomes: tuple[Outcome, ...]


class Target:
    """A server that is sent calls."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        """Use `target`, which opens the connections."""
        self._url = url.rstrip("/")
        self._session = session

    async def send(self, call: Call, scheduled: float | None = None) -> Outcome:
        """Send a call and read the answer to its end; never raises for what the server does.

        Args:
            call: What is sent.
            scheduled: When it was to be sent, by `time.perf_counter`; None is now.
        """
        begun = time.perf_counter() if scheduled is None else scheduled
        try:
            async with self._session.post(f"{self._url}{call.path}", json=call.body) as response:
                if response.ok and call.body.get("stream"):
                    return await _streamed(response, begun)
                reply = await response.read()
                retry_after = response.headers.get("retry-after")
                return Outcome(
                    response.status,
                    _milliseconds_since(begun),
                    reply=_json(reply),
                    retry_after_s=float(retry_after) if retry_after else None,
                )
        except (aiohttp.ClientError, TimeoutError) as error:
            return Outcome(NO_ANSWER, _milliseconds_since(begun), reply={"detail": repr(error)})


@asynccontextmanager
async def target(
    url: str, connections: int, timeout_s: float = TIMEOUT_SECONDS, *, with_key: bool = True
) -> AsyncIterator[Target]:
    """Open the connections to a server: to Openbook with the environment's API key, to an engine without."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=IDLE_SECONDS),
        timeout=aiohttp.ClientTimeout(total=timeout_s),
        headers=authorization() if with_key else {},
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        yield Target(url, session)


async def closed_loop(server: Target, calls: Sequence[Call], clients: int) -> Batch:
    """Send all calls with `clients` requests under way at once.

    Raises:
        ServerFailed: A call was not answered; a closed loop with failures measures nothing.
    """
    outcomes: dict[int, Outcome] = {}
    todo = iter(enumerate(calls))

    async def one_client() -> None:
        for index, call in todo:
            outcomes[index] = outcome = await server.send(call)
            if not outcome.ok:
                raise ServerFailed(f"{call.path} was answered with {outcome.status}: {str(outcome.reply)[:300]}")

    started = time.perf_counter()
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(one_client())
    except* ServerFailed as failures:
        raise failures.exceptions[0] from None
    return Batch(time.perf_counter() - started, tuple(outcomes[index] for index in range(len(calls))))


async def open_loop(server: Target, calls: Sequence[Call], moments: Sequence[float]) -> Batch:
    """Send each call at its moment, in seconds from the start. Failures are outcomes like any other."""
    started = time.perf_counter()

    async def one(call: Call, moment: float) -> Outcome:
        await asyncio.sleep(started + moment - time.perf_counter())
        return await server.send(call, started + moment)

    outcomes = await asyncio.gather(*(one(call, moment) for call, moment in zip(calls, moments, strict=True)))
    return Batch(time.perf_counter() - started, tuple(outcomes))


async def _streamed(response: aiohttp.ClientResponse, begun: float) -> Outcome:
    first_token_ms: float | None = None
    event, data = b"", b""
    async for line in response.content:
        if line.startswith(b"event:"):
            event = line[6:].strip()
        elif line.startswith(b"data:") and (read := line[5:].strip()) != b"[DONE]":
            data = read
            if first_token_ms is None and (event == b"token" if event else _has_text(data)):
                first_token_ms = _milliseconds_since(begun)
    status = response.status if event in (b"", b"final") else NO_ANSWER
    return Outcome(status, _milliseconds_since(begun), first_token_ms, _json(data))


def _has_text(data: bytes) -> bool:
    """Say whether a chunk of OpenAI's form has text; Openbook's own events say it by their name."""
    choices = _json(data).get("choices")
    return bool(choices and choices[0]["delta"].get("content"))


def _json(data: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"detail": data[:300].decode(errors="replace")}


def _milliseconds_since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000
