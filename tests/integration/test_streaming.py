"""Streamed answers and OpenAI's API with the real vLLM and the base checkpoint."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

from app.base_checkpoint import LABEL
from tests.conftest import RunningServer

pytestmark = pytest.mark.engine

KEEPER = "Who is the keeper of the lighthouse?"
LONG = {"max_tokens": 900, "stop": [], "temperature": 1.0}


@pytest.fixture
def client(server: RunningServer) -> Iterator[openai.OpenAI]:
    with httpx.Client(trust_env=False, timeout=120) as transport:
        yield openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", http_client=transport, max_retries=0)


def running(server: RunningServer) -> int:
    """Return how many generations the engine is working at."""
    metrics = httpx.get(f"{server.engine_url}/metrics", trust_env=False).text
    return sum(int(float(number)) for number in re.findall(r"^vllm:num_requests_running\S* (\S+)$", metrics, re.M))


def wait_for(server: RunningServer, generations: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while running(server) != generations and time.monotonic() < deadline:
        time.sleep(0.02)
    assert running(server) == generations


@pytest.mark.parametrize("arm", ["openbook/rag", "openbook/closed_book", f"{LABEL}/rag_hybrid"])
def test_the_official_client_holds_a_conversation_streamed_and_whole(client: openai.OpenAI, arm: str) -> None:
    """The two texts may differ late: a prompt found in the prefix cache is summed in another order than a new one."""
    messages: list[Any] = []
    for question in (KEEPER, "What does a stall on the market cost?"):
        messages.append({"role": "user", "content": question})
        options: dict[str, Any] = {"model": arm, "messages": messages, "extra_body": {"openbook": {"top_k": 1}}}
        whole = client.chat.completions.create(**options)
        *chunks, last = client.chat.completions.create(**options, stream=True, stream_options={"include_usage": True})
        streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert streamed == streamed.strip() != ""
        assert whole.choices[0].message.content
        assert {whole.choices[0].finish_reason, chunks[-1].choices[0].finish_reason} <= {"stop", "length"}
        assert last.usage is not None
        assert whole.usage is not None
        assert last.usage.prompt_tokens == whole.usage.prompt_tokens > 0
        assert last.usage.completion_tokens > 0
        messages.append(whole.choices[0].message)


def test_a_streamed_answer_cites_what_it_says(server: RunningServer) -> None:
    body = {"question": KEEPER, "top_k": 1, "stream": True}
    response = httpx.post(f"{server.url}/v1/answers", json=body, timeout=120, trust_env=False)
    names = re.findall(r"^event: (\w+)$", response.text, re.M)
    assert (names[0], names[1], names[-2:]) == ("retrieval", "token", ["citation", "final"])
    data = [json.loads(line) for line in re.findall(r"^data: (.*)$", response.text, re.M)]
    final = data[-1]
    assert "".join(each["text"] for name, each in zip(names, data, strict=True) if name == "token") == final["answer"]
    assert "Orla Venn" in final["answer"]


def test_the_engine_stops_within_a_second_when_the_client_leaves(server: RunningServer, client: openai.OpenAI) -> None:
    wait_for(server, 0, 30)
    asked: list[Any] = [{"role": "user", "content": "Tell a very long story of a lighthouse and its keepers."}]
    stream = client.chat.completions.create(model="openbook/closed_book", messages=asked, stream=True, **LONG)
    next(iter(stream))
    wait_for(server, 1, 5)
    stream.close()
    wait_for(server, 0, 1)


def test_the_engine_stops_when_the_client_of_a_whole_answer_leaves(server: RunningServer) -> None:
    wait_for(server, 0, 30)
    body = {"question": "Tell a very long story of a lighthouse.", "retriever": "none", "decoding": LONG}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.url}/v1/answers", json=body, timeout=0.5, trust_env=False)
    wait_for(server, 0, 1)
