"""A small server of its own that answers a benchmark's calls in known ways."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

ANSWER_SECONDS = 0.05


class CountingServer(BaseHTTPRequestHandler):
    """Answers with the body it got, and remembers how many requests were under way at once."""

    protocol_version = "HTTP/1.1"
    under_way = 0
    most = 0
    guard = threading.Lock()

    def do_POST(self):
        cls = type(self)
        with cls.guard:
            cls.under_way += 1
            cls.most = max(cls.most, cls.under_way)
        body = self.rfile.read(int(self.headers["content-length"]))
        time.sleep(ANSWER_SECONDS)
        with cls.guard:
            cls.under_way -= 1
        asked = json.loads(body)
        if asked.get("stream"):
            self.stream(asked["lines"])
        else:
            self.answer(asked.get("status", 200), body)

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        if status == 429:
            self.send_header("retry-after", "2")
        self.end_headers()
        self.wfile.write(body)

    def stream(self, lines):
        self.send_response(200)
        self.send_header("connection", "close")
        self.end_headers()
        for line in lines:
            self.wfile.write(f"{line}\n".encode())
            self.wfile.flush()
            time.sleep(ANSWER_SECONDS)

    def log_message(self, *_):
        pass


@pytest.fixture
def counting():
    """Yield the class of the server, whose `most` starts at 0, and its URL."""
    CountingServer.most = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), CountingServer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield CountingServer, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
