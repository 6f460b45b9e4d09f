"""`POST /v1/answers` with `stream`: server-sent events."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.events import Retrieval, Trimmer
from app.schemas.answer import Answer
from app.schemas.passage import Citation
from app.schemas.problem import Problem
from tests.app.conftest import Serve
from tests.app.openai_server import OpenAiServer
from tests.waiting import wait_for

KEEPER = "Who is the keeper of the lighthouse?"
Events = list[tuple[str, dict[str, Any]]]


def events_of(response: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def stream(api: httpx.Client, **request: object) -> Events:
    with api.stream("POST", "/v1/answers", json={"question": KEEPER, "stream": True, **request}) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert (response.headers["x-accel-buffering"], response.headers["cache-control"]) == ("no", "no-store")
        return list(events_of(response))


def test_a_stream_is_retrieval_tokens_citations_and_the_whole_answer(api: httpx.Client) -> None:
    events = stream(api)
    assert [name for name, _ in events] == ["retrieval", "token", "token", "token", "citation", "final"]
    retrieval, answer = Retrieval.model_validate(events[0][1]), Answer.model_validate(events[-1][1])
    assert (retrieval.id, retrieval.passages, retrieval.prompt) == (answer.id, answer.passages, answer.prompt)
    assert [data["text"] for name, data in events if name == "token"] == ["Orla", " Ven", "n"]
    assert (Citation.model_validate(events[-2][1]),) == answer.citations


@pytest.mark.parametrize("text", ["Orla Venn", "  \n Orla\t Venn \n", "", " ", "灯台の番人 [1]"])
def test_the_tokens_of_a_stream_are_the_text_of_the_whole_answer(
    api: httpx.Client, engine: OpenAiServer, text: str
) -> None:
    engine.text = text
    whole = Answer.model_validate_json(api.post("/v1/answers", json={"question": KEEPER}).content)
    events = stream(api)
    final = Answer.model_validate(events[-1][1])
    assert "".join(data["text"] for name, data in events if name == "token") == whole.answer == text.strip()
    unlike = {"id", "timing"}
    assert final.model_dump(exclude=unlike) == whole.model_dump(exclude=unlike)


def test_space_within_a_text_is_kept_however_it_is_cut() -> None:
    text = " \n one  two\n\nthree \t"
    for size in range(1, len(text)):
        trimmer = Trimmer()
        assert "".join(trimmer.add(text[at : at + size]) for at in range(0, len(text), size)) == text.strip()


def test_the_engine_is_asked_for_the_same_whether_whole_or_streamed(api: httpx.Client, engine: OpenAiServer) -> None:
    api.post("/v1/answers", json={"question": KEEPER})
    stream(api)
    whole, streamed = engine.requests
    assert streamed.pop("stream_options") == {"include_usage": True}
    assert (whole.pop("stream"), streamed.pop("stream")) == (False, True)
    assert whole == streamed


def test_passages_and_tokens_arrive_before_the_answer_is_finished(api: httpx.Client, engine: OpenAiServer) -> None:
    engine.hold, engine.hold_after = threading.Event(), 2
    with api.stream("POST", "/v1/answers", json={"question": KEEPER, "stream": True}) as response:
        events = events_of(response)
        assert [next(events)[0] for _ in range(3)] == ["retrieval", "token", "token"]
        engine.hold.set()
        assert [name for name, _ in events] == ["token", "citation", "final"]


def test_a_silent_stream_sends_comments(serve: Serve, engine: OpenAiServer) -> None:
    engine.hold, engine.hold_after = threading.Event(), 1
    with serve(heartbeat_s=0.05).stream("POST", "/v1/answers", json={"question": KEEPER, "stream": True}) as response:
        lines = response.iter_lines()
        assert sum(line.startswith(":") for line, _ in zip(lines, range(12), strict=False)) >= 3
        engine.hold.set()
        assert any(line == "event: final" for line in lines)


def test_what_is_wrong_before_the_stream_begins_is_a_status(api: httpx.Client) -> None:
    response = api.post("/v1/answers", json={"question": KEEPER, "stream": True, "collection": "defualt"})
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")


FAULTS = {
    "refused": ({"status": 500, "error": "a kernel failed"}, [], 502, "a kernel failed"),
    "dead": ({"status": 500, "error": "EngineCore died"}, [], 503, "EngineCore died"),
    "context": ({"status": 400, "error": "maximum context length is 9"}, [], 422, "top_k"),
    "killed": ({"breaks_after": 1}, ["token"], 503, "broke off in the middle"),
    "broken off": ({"fails_after": 2, "error": "out of memory"}, ["token", "token"], 502, "out of memory"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_engine_on_the_way_is_an_error_event(
    api: httpx.Client, engine: OpenAiServer, fault: str
) -> None:
    how, tokens, status, expected = FAULTS[fault]
    vars(engine).update(how)
    events = stream(api)
    assert [name for name, _ in events] == ["retrieval", *tokens, "error"]
    problem = Problem.model_validate(events[-1][1])
    assert (problem.status, expected in problem.detail, problem.instance) == (status, True, "/v1/answers")


def test_a_client_that_leaves_a_stream_closes_the_engines_within_a_second(serve: Serve, engine: OpenAiServer) -> None:
    api = serve(max_in_flight=1)
    engine.hold, engine.hold_after = threading.Event(), 1
    with api.stream("POST", "/v1/answers", json={"question": KEEPER, "stream": True}) as response:
        events = events_of(response)
        assert [next(events)[0] for _ in range(2)] == ["retrieval", "token"]
    wait_for(lambda: engine.lost_clients == 1, 1)
    engine.hold = None
    assert stream(api, retriever="none")[-1][0] == "final"


def test_a_client_that_leaves_before_the_first_event_holds_no_place(serve: Serve, engine: OpenAiServer) -> None:
    api = serve(max_in_flight=1)
    engine.hold = threading.Event()
    body = {"question": KEEPER, "retriever": "none"}
    with (
        api.stream("POST", "/v1/answers", json={**body, "stream": True}),
        pytest.raises(httpx.ReadTimeout),
    ):
        # The only place is taken, so this one waits without a first event, and goes.
        api.post("/v1/answers", json={**body, "stream": True}, timeout=0.2)
    wait_for(lambda: engine.lost_clients == 1, 1)
    engine.hold = None
    assert stream(api, retriever="none")[-1][0] == "final"
    assert len(engine.requests) == 2


def test_a_client_that_does_not_read_holds_no_place(serve: Serve, engine: OpenAiServer) -> None:
    api = serve(max_in_flight=1)
    engine.text = "word " * 16_000
    body = json.dumps({"question": KEEPER, "retriever": "none", "stream": True}).encode()
    head = f"host: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    with socket.socket() as idle:
        idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        idle.connect((api.base_url.host, api.base_url.port or 80))
        idle.sendall(f"POST /v1/answers HTTP/1.1\r\n{head}\r\n".encode() + body)
        wait_for(lambda: len(engine.requests) == 1, 5)
        engine.text = "Orla Venn"
        assert stream(api, retriever="none")[-1][1]["answer"] == "Orla Venn"


def test_a_stream_counts_as_an_answer_in_the_metrics(api: httpx.Client) -> None:
    stream(api)
    text = api.get("/metrics").text
    assert re.search(r'openbook_tokens_total\{arm="rag",.*kind="prompt"\} 90.0', text)
    assert 'openbook_http_requests_total{method="POST",route="/v1/answers",status="200"} 1.0' in text
