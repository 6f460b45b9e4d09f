"""What two batches of the same requests say about an overhead."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from experiments.bench.comparison import Pair, compare
from experiments.bench.load import Batch, Call, closed_loop


def batch(seconds, *latencies):
    return Batch(seconds, latencies, tuple({} for _ in latencies))


def test_throughput_is_compared_over_all_blocks_and_overhead_request_by_request():
    pairs = [
        Pair(openbook=batch(2.0, 110, 210), baseline=batch(1.8, 100, 200)),
        Pair(openbook=batch(2.0, 320, 430), baseline=batch(2.2, 300, 400)),
    ]
    result = compare(1, pairs)
    assert result.requests == 4
    assert result.openbook_per_second == pytest.approx(4 / 4.0)
    assert result.throughput_ratio == pytest.approx(4.0 / 4.0)
    assert (result.ratio_low, result.ratio_high) == (pytest.approx(0.9), pytest.approx(1.1))
    assert result.overhead_ms == pytest.approx(15)  # the median of 10, 10, 20, 30


def test_no_blocks_are_refused():
    with pytest.raises(ValueError, match="no blocks"):
        compare(1, [])


class CountingServer(BaseHTTPRequestHandler):
    """Answers with the body it got, and remembers how many requests were under way at once."""

    under_way = 0
    most = 0
    guard = threading.Lock()
    pause = threading.Event()

    def do_POST(self):
        cls = type(self)
        with cls.guard:
            cls.under_way += 1
            cls.most = max(cls.most, cls.under_way)
        body = self.rfile.read(int(self.headers["content-length"]))
        cls.pause.wait(0.05)
        with cls.guard:
            cls.under_way -= 1
        refused = json.loads(body).get("refuse", False)
        self.send_response(500 if refused else 200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def url():
    CountingServer.most = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), CountingServer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def send(url, calls, clients):
    async def run():
        async with httpx.AsyncClient(base_url=url) as client:
            return await closed_loop(client, calls, clients)

    return asyncio.run(run())


def test_a_closed_loop_keeps_so_many_requests_under_way_and_the_order_of_the_answers(url):
    result = send(url, [Call("/", {"n": n}) for n in range(9)], clients=3)
    assert [response["n"] for response in result.responses] == list(range(9))
    assert CountingServer.most == 3
    assert all(latency >= 50 for latency in result.latencies_ms)
    assert result.seconds >= 3 * 0.05


def test_a_refused_request_ends_the_measurement(url):
    with pytest.raises(httpx.HTTPStatusError):
        send(url, [Call("/", {"refuse": True})], clients=1)
