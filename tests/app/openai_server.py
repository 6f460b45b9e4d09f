"""A small OpenAI-compatible server that answers as it is told to: for the ways in which a real one fails."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "small@1"


class OpenAiServer:
    """What the server was asked, and what it answers next."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        """Of each of these requests, by their names in lower case."""
        self.text = "Orla Venn"
        self.status = 200
        self.error = "something went wrong"
        self.hold: threading.Event | None = None
        """Set, no answer leaves before the event; the client may be gone by then."""
        self.delay_s = 0.0
        """Seconds that it takes for every answer."""
        self.hold_after = 0
        """With `hold`, how many pieces of a streamed answer leave before the event."""
        self.breaks_after: int | None = None
        """Set, a streamed answer ends after so many pieces, as if the engine had been killed."""
        self.fails_after: int | None = None
        """Set, a streamed answer goes on with `error` after so many pieces."""
        self.lost_clients = 0

    def models(self) -> dict[str, Any]:
        return {"object": "list", "data": [{"id": MODEL, "object": "model", "max_model_len": 512}]}

    def chunks(self) -> list[dict[str, Any]]:
        """Return a streamed answer: pieces of four characters, the reason of its end, and the usage."""
        pieces = [self.text[start : start + 4] for start in range(0, len(self.text), 4)]
        deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces), {}]
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}]} for delta in deltas
        ]
        return [*chunks, {"choices": [], "usage": self.completion()["usage"]}]

    def completion(self) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.text}
        return {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 90, "completion_tokens": 3},
        }


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    """On a busy machine more connections than the usual five wait to be taken."""


@contextmanager
def openai_server() -> Iterator[OpenAiServer]:
    """Run the server on a free loopback port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body leave in one packet; two of them would wait 40 ms for each other's acknowledgement.
        wbufsize = -1

        def do_GET(self) -> None:
            self._send(200, state.models() if self.path == "/v1/models" else {})

        def do_POST(self) -> None:
            request, chunks = json.loads(self.rfile.read(int(self.headers["content-length"]))), state.chunks()
            state.requests.append(request)
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            time.sleep(state.delay_s)
            streams = request.get("stream", False) and state.status == 200
            if not (streams and state.hold_after) and self._lost_while_held():
                return
            if streams:
                self._stream(chunks)
                return
            ok = state.status == 200
            self._send(state.status, state.completion() if ok else {"error": {"message": state.error}})

        def _stream(self, chunks: list[dict[str, Any]]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for sent, chunk in enumerate(chunks, -1):
                if sent == state.breaks_after:
                    self.close_connection = True
                    return
                failed = {"error": {"message": state.error}}
                self._write(f"data: {json.dumps(failed if sent == state.fails_after else chunk)}\n\n")
                if state.hold_after and sent + 1 == state.hold_after and self._lost_while_held():
                    return
            self._write("data: [DONE]\n\n")
            self._write("")

        def _write(self, text: str) -> None:
            content = text.encode()
            self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
            self.wfile.flush()

        def _lost_while_held(self) -> bool:
            if state.hold is not None:
                self.connection.settimeout(0.05)
                while not state.hold.is_set():
                    if self._client_has_gone():
                        state.lost_clients += 1
                        return True
                # Kept, it would also end the wait for the connection's next request, which may be on its way.
                self.connection.settimeout(None)
            return False

        def _client_has_gone(self) -> bool:
            try:
                return not self.connection.recv(1)
            except TimeoutError:
                return False

        def _send(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            return

    httpd = _Server(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    state = OpenAiServer(f"http://127.0.0.1:{httpd.server_address[1]}")
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
