"""Asking many questions: bounded concurrency, a few retries, one AnswerRecord for each question.

A question that the server refuses, or fails to answer while it is otherwise well, is recorded with its error. When the
server itself is gone, asking stops and nothing is recorded, so that the next run asks again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import httpx
from pydantic import ValidationError

from app.schemas.answer import Answer, AnswerRequest
from corpus.api_key import authorization
from experiments.client import LOOPBACK, TIMEOUT_SECONDS, problem_of
from experiments.errors import ServerFailed
from experiments.records import AnswerRecord, QuestionSet

PAUSES_SECONDS = (0.5, 2.0, 5.0)
"""Before the second, third and fourth attempt."""
WORTH_A_RETRY = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Ask:
    """One question for one arm."""

    arm: str
    set: QuestionSet
    question_id: str
    request: AnswerRequest


def ask_all(url: str, asks: Sequence[Ask], concurrency: int, keep: Callable[[AnswerRecord], None]) -> None:
    """Ask everything, `concurrency` questions under way at once, and hand each record to `keep` as it arrives.

    Args:
        url: The server's address.
        asks: In the order in which they are sent.
        concurrency: How many clients send, each its next question when its last is answered.
        keep: Called in the order of arrival, from one thread.

    Raises:
        ServerFailed: The server is out of reach or not ready any more.
    """
    asyncio.run(_ask_all(url, asks, concurrency, keep))


async def _ask_all(url: str, asks: Sequence[Ask], concurrency: int, keep: Callable[[AnswerRecord], None]) -> None:
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    todo = iter(asks)

    async with httpx.AsyncClient(
        base_url=url, timeout=TIMEOUT_SECONDS, limits=limits, headers=authorization(), **LOOPBACK
    ) as http:

        async def one_client() -> None:
            for ask in todo:
                keep(await _ask(http, ask))

        await asyncio.gather(*(one_client() for _ in range(min(concurrency, len(asks)))))


async def _ask(http: httpx.AsyncClient, ask: Ask) -> AnswerRecord:
    body = ask.request.model_dump(mode="json")
    for pause in (*PAUSES_SECONDS, None):
        sent = time.perf_counter()
        try:
            response = await http.post("/v1/answers", json=body)
            latency_ms = (time.perf_counter() - sent) * 1000
            if response.is_success:
                return _answered(ask, Answer.model_validate_json(response.text), latency_ms)
            problem = problem_of(response)
            if response.status_code not in WORTH_A_RETRY:
                return _failed(ask, problem)
        except httpx.TransportError as error:
            problem = f"{type(error).__name__}: {error}"
        except ValidationError as error:
            return _failed(ask, f"the server's answer does not follow the contract: {error}")
        if pause is not None:
            await asyncio.sleep(pause)
    await _require_ready(http, problem)
    return _failed(ask, problem)


async def _require_ready(http: httpx.AsyncClient, problem: str) -> None:
    try:
        response = await http.get("/readyz")
    except httpx.TransportError as error:
        raise ServerFailed(f"The server at {http.base_url} went out of reach: {problem}.") from error
    if response.is_error:
        raise ServerFailed(f"The server at {http.base_url} is not ready any more: {problem_of(response)}")


def _answered(ask: Ask, answer: Answer, latency_ms: float) -> AnswerRecord:
    return AnswerRecord(
        arm=ask.arm, set=ask.set, question_id=ask.question_id, answer=answer, latency_ms=round(latency_ms, 1)
    )


def _failed(ask: Ask, problem: str) -> AnswerRecord:
    return AnswerRecord(arm=ask.arm, set=ask.set, question_id=ask.question_id, answer=None, error=problem)
