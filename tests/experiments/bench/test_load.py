"""What a load sends, when, and how it counts what comes back."""

from __future__ import annotations

import asyncio
import time

import pytest

from experiments.bench.load import NO_ANSWER, Call, closed_loop, open_loop, target
from experiments.errors import ServerFailed
from tests.experiments.bench.conftest import ANSWER_SECONDS


def with_target(url, work, connections=32, **options):
    async def run():
        async with target(url, connections, **options) as server:
            return await work(server)

    return asyncio.run(run())


def test_a_closed_loop_keeps_so_many_requests_under_way_and_the_order_of_the_answers(counting):
    server, url = counting
    calls = [Call("/", {"n": n}) for n in range(9)]
    result = with_target(url, lambda each: closed_loop(each, calls, clients=3))
    assert [outcome.reply["n"] for outcome in result.outcomes] == list(range(9))
    assert server.most == 3
    assert all(outcome.latency_ms >= 1000 * ANSWER_SECONDS for outcome in result.outcomes)
    assert result.seconds >= 3 * ANSWER_SECONDS


def test_a_refused_request_ends_a_closed_loop(counting):
    with pytest.raises(ServerFailed, match="500"):
        with_target(counting[1], lambda each: closed_loop(each, [Call("/", {"status": 500})], clients=1))


def test_an_open_loop_sends_whatever_has_been_answered(counting):
    server, url = counting
    moments = [n * ANSWER_SECONDS / 10 for n in range(10)]
    with_target(url, lambda each: open_loop(each, [Call("/", {})] * 10, moments))
    assert server.most > 3


def test_an_open_loop_counts_from_when_a_request_was_to_be_sent(counting):
    # One connection: the third request waits for two others, and the wait is part of its latency.
    result = with_target(counting[1], lambda each: open_loop(each, [Call("/", {})] * 3, [0, 0, 0]), connections=1)
    assert max(outcome.latency_ms for outcome in result.outcomes) >= 3000 * ANSWER_SECONDS


def test_a_refusal_in_an_open_loop_is_an_outcome_that_says_when_to_try_again(counting):
    result = with_target(counting[1], lambda each: open_loop(each, [Call("/", {"status": 429})], [0]))
    assert (result.outcomes[0].status, result.outcomes[0].retry_after_s) == (429, 2)
    assert not result.outcomes[0].ok


def test_a_server_that_is_away_is_an_outcome():
    result = with_target("http://127.0.0.1:9", lambda each: open_loop(each, [Call("/", {})], [0]))
    assert result.outcomes[0].status == NO_ANSWER


def test_a_server_that_takes_too_long_is_an_outcome(counting):
    started = time.perf_counter()
    result = with_target(counting[1], lambda each: open_loop(each, [Call("/", {})], [0]), timeout_s=0.01)
    assert result.outcomes[0].status == NO_ANSWER
    assert time.perf_counter() - started < 1


STREAMS = {
    "openbook": ["event: retrieval", 'data: {"passages": []}', "", "event: token", 'data: {"text": "A"}', "",
                 "event: final", 'data: {"usage": 7}', ""],
    "openai": ['data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}', "", "",
               'data: {"choices": [{"delta": {"content": "A"}}]}', "", "", 'data: {"choices": [], "usage": 7}', "",
               "data: [DONE]"],
}  # fmt: skip


@pytest.mark.parametrize("form", STREAMS)
def test_the_first_token_of_a_stream_is_timed_and_its_last_event_kept(counting, form):
    call = Call("/", {"stream": True, "lines": STREAMS[form]})
    [outcome] = with_target(counting[1], lambda each: closed_loop(each, [call], clients=1)).outcomes
    # The text is in the fourth or fifth line, after at least three pauses, and four more lines follow.
    assert outcome.first_token_ms >= 3000 * ANSWER_SECONDS
    assert outcome.latency_ms >= outcome.first_token_ms + 4000 * ANSWER_SECONDS
    assert outcome.reply["usage"] == 7


def test_a_stream_that_ends_with_an_error_was_not_answered(counting):
    lines = ["event: token", 'data: {"text": "A"}', "event: error", 'data: {"status": 503}']
    call = Call("/", {"stream": True, "lines": lines})
    with pytest.raises(ServerFailed, match="503"):
        with_target(counting[1], lambda each: closed_loop(each, [call], clients=1))
