"""How the server holds its own: a bounded queue, deadlines, rate limits, size of bodies, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access.keyring import create_key
from app.flow import buckets
from app.flow.buckets import Buckets
from app.flow.drain import Drain
from tests.app.conftest import Serve
from tests.app.openai_server import OpenAiServer
from tests.app.serving import served
from tests.waiting import wait_for

WHO = {"question": "Who is the keeper of the lighthouse?", "retriever": "none"}


async def _ask_at_once(url: str, count: int, until: Callable[[int], None]) -> list[httpx.Response]:
    """Send `count` questions at once; `until` hears how many were refused so far."""
    refused = 0

    async def ask(http: httpx.AsyncClient) -> httpx.Response:
        nonlocal refused
        response = await http.post("/v1/answers", json=WHO)
        refused += response.status_code == 429
        until(refused)
        return response

    limits = httpx.Limits(max_connections=count)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=60, trust_env=False) as http:
        return await asyncio.gather(*(ask(http) for _ in range(count)))


def test_of_200_questions_at_once_16_are_answered_and_the_rest_refused_at_once(
    serve: Serve, engine: OpenAiServer
) -> None:
    """No question is answered before every other one is refused: nobody who is refused has waited for anything."""
    api = serve(max_in_flight=8, max_queued=8)
    engine.hold = threading.Event()
    open_again = engine.hold.set
    responses = asyncio.run(
        _ask_at_once(str(api.base_url), 200, lambda refused: open_again() if refused == 184 else None)
    )
    assert sorted({response.status_code for response in responses}) == [200, 429]
    refused = [response for response in responses if response.status_code == 429]
    assert (len(refused), len(engine.requests)) == (184, 16)
    assert all(1 <= int(response.headers["retry-after"]) <= 60 for response in refused)
    assert refused[0].json()["type"] == "urn:openbook:overloaded"
    assert api.post("/v1/answers", json=WHO).status_code == 200


def test_under_overload_the_accepted_wait_for_two_rounds_and_no_more(serve: Serve, engine: OpenAiServer) -> None:
    api = serve(max_in_flight=8, max_queued=8)
    engine.delay_s = 0.5
    responses = asyncio.run(_ask_at_once(str(api.base_url), 200, lambda _: None))
    seconds = [each.json()["timing"]["total_ms"] / 1000 for each in responses if each.status_code == 200]
    # All of 200 behind 8 would take 12.5 s.
    assert len(seconds) >= 16
    assert max(seconds) < 5


def test_a_deadline_ends_the_generation_and_frees_its_place(serve: Serve, engine: OpenAiServer) -> None:
    api = serve(max_in_flight=1, max_queued=0)
    engine.hold = threading.Event()
    late = api.post("/v1/answers", json={**WHO, "timeout_s": 0.3})
    assert (late.status_code, late.json()["type"]) == (504, "urn:openbook:deadline-exceeded")
    wait_for(lambda: engine.lost_clients == 1)
    engine.hold.set()
    assert api.post("/v1/answers", json=WHO).status_code == 200


def test_a_deadline_counts_the_time_in_the_queue(serve: Serve, engine: OpenAiServer) -> None:
    api = serve(max_in_flight=1, max_queued=1)
    engine.hold = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(api.post, "/v1/answers", json=WHO)
        wait_for(lambda: engine.requests)
        assert api.post("/v1/answers", json={**WHO, "timeout_s": 0.3}).status_code == 504
        assert len(engine.requests) == 1
        engine.hold.set()
        assert first.result().status_code == 200


def test_a_deadline_in_the_middle_of_a_stream_is_its_last_event(serve: Serve, engine: OpenAiServer) -> None:
    engine.hold, engine.hold_after = threading.Event(), 1
    response = serve().post("/v1/answers", json={**WHO, "stream": True, "timeout_s": 0.5})
    *_, name, data = response.text.strip().splitlines()
    assert (response.status_code, name) == (200, "event: error")
    assert json.loads(data.removeprefix("data: "))["status"] == 504
    wait_for(lambda: engine.lost_clients == 1)
    engine.hold.set()


def test_the_server_sets_the_longest_deadline(serve: Serve, engine: OpenAiServer) -> None:
    api = serve(deadline_s=0.3)
    engine.hold = threading.Event()
    assert api.post("/v1/answers", json=WHO).status_code == 504
    refused = api.post("/v1/answers", json={**WHO, "timeout_s": 5})
    assert (refused.status_code, "OPENBOOK_DEADLINE_S" in refused.json()["detail"]) == (422, True)
    assert api.post("/v1/answers", json={**WHO, "timeout_s": 0}).status_code == 422
    engine.hold.set()


def test_a_key_that_calls_too_often_is_told_when_to_come_again(serve: Serve, tmp_path: Path) -> None:
    shown = {}
    for name, limit in (("slow", None), ("other", None), ("fast", 50)):
        _, secret = create_key(tmp_path / "keys.json", name, ("read",), requests_per_minute=limit)
        shown[name] = {"authorization": f"Bearer {secret}"}
    api = serve(keys_file=tmp_path / "keys.json", requests_per_minute=2)
    answers = [api.get("/v1/documents", headers=shown["slow"]) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["1", "0", "0"]
    assert answers[0].headers["ratelimit-limit"] == "2"
    assert 1 <= int(answers[2].headers["retry-after"]) <= 30
    assert answers[2].json()["type"] == "urn:openbook:rate-limited"
    assert api.get("/v1/documents", headers=shown["other"]).status_code == 200
    assert api.get("/v1/documents", headers=shown["fast"]).headers["ratelimit-limit"] == "50"
    assert api.get("/healthz", headers=shown["slow"]).status_code == 200


def test_without_keys_the_limit_is_that_of_the_address_and_by_default_there_is_none(serve: Serve) -> None:
    limited, free = serve(requests_per_minute=1), serve()
    assert [limited.get("/v1/documents").status_code for _ in range(2)] == [200, 429]
    assert "ratelimit-limit" not in free.get("/v1/documents").headers


@given(st.integers(1, 120), st.lists(st.floats(0, 30), max_size=60))
def test_no_bucket_gives_more_than_its_size_and_what_has_come_in_since(per_minute: int, pauses: list[float]) -> None:
    now, allowed = 0.0, 0
    limits = Buckets(lambda: now)
    for pause in pauses:
        now += pause
        taken = limits.take("ada", per_minute)
        allowed += taken.allowed
        assert 0 <= taken.remaining <= per_minute
        assert (taken.retry_after_s == 0) == taken.allowed
    assert allowed <= per_minute + now * per_minute / 60 + 1e-6


def test_who_waits_as_long_as_told_is_let_in() -> None:
    now = 0.0
    limits = Buckets(lambda: now)
    while (taken := limits.take("ada", 7)).allowed:
        pass
    now += taken.retry_after_s
    assert limits.take("ada", 7).allowed


def test_buckets_of_many_callers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "MOST_BUCKETS", 100)
    limits = Buckets()
    for caller in range(1000):
        limits.take(str(caller), 60)
    assert len(limits._held) <= 100


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(serve: Serve) -> None:
    api = serve(max_body_kib=1)
    connection = http.client.HTTPConnection(api.base_url.host, api.base_url.port or 80, timeout=10)
    with contextlib.closing(connection):
        connection.putrequest("POST", "/v1/answers")
        connection.putheader("content-type", "application/json")
        connection.putheader("content-length", str(10**9))
        connection.endheaders()
        response = connection.getresponse()
        assert (response.status, response.headers["connection"]) == (413, "close")
        assert json.loads(response.read())["type"] == "urn:openbook:body-too-large"


def test_a_body_of_unknown_length_is_read_up_to_the_limit(serve: Serve, engine: OpenAiServer) -> None:
    api = serve(max_body_kib=1)

    def pieces(count: int) -> Iterator[bytes]:
        yield json.dumps(WHO).encode()
        yield from (b" " * 100 for _ in range(count))

    headers = {"content-type": "application/json"}
    assert api.post("/v1/answers", content=pieces(3), headers=headers).status_code == 200
    refused = api.post("/v1/answers", content=pieces(20), headers=headers)
    assert (refused.status_code, "OPENBOOK_MAX_BODY_KIB" in refused.json()["detail"]) == (413, True)
    assert len(engine.requests) == 1


def test_a_drain_is_over_when_nothing_is_under_way_or_its_time_is_up() -> None:
    patient, hasty = Drain(60), Drain(0)
    patient.under_way = hasty.under_way = 1
    assert not patient.is_over
    patient.begin()
    hasty.begin()
    assert (patient.is_over, hasty.is_over) == (False, True)
    patient.under_way = 0
    assert patient.is_over


def test_sigterm_finishes_what_is_under_way_and_takes_nothing_new(tmp_path: Path, engine: OpenAiServer) -> None:
    engine.hold = threading.Event()
    with served(tmp_path, engine, "--drain-seconds", "20") as (process, api), ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(api.post, "/v1/answers", json=WHO)
        wait_for(lambda: engine.requests)
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: api.get("/readyz").status_code == 503)
        refused = api.post("/v1/answers", json=WHO)
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:openbook:draining")
        assert (refused.headers["retry-after"], refused.headers["connection"]) == ("5", "close")
        assert api.get("/healthz").status_code == 200
        engine.hold.set()
        assert under_way.result().status_code == 200
        assert process.wait(20) == 0


def test_a_drain_does_not_wait_longer_than_it_is_told(tmp_path: Path, engine: OpenAiServer) -> None:
    engine.hold = threading.Event()
    with served(tmp_path, engine, "--drain-seconds", "0.5") as (process, api), ThreadPoolExecutor(1) as pool:
        cut = pool.submit(api.post, "/v1/answers", json=WHO)
        wait_for(lambda: engine.requests)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert isinstance(cut.exception(), httpx.TransportError) or cut.result().status_code >= 500
        engine.hold.set()
