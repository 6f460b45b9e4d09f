"""The small OpenAI-compatible server as a process of its own: `python small_engine.py PORT LABEL LOCATION`.

It answers with its label, the words of its weights (the file `says` in its folder) and its process id, after 20 ms, or
after two seconds where the question says "takes 2 s". A label that begins with `slow` takes a minute to start. One that
begins with `fails` ends with an error, and so does one with a file `starts` in its folder once it was started as often
as that says.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PORT, LABEL, LOCATION = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
under_way: set[int] = set()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self.reply(f'vllm:num_requests_running{{engine="0"}} {len(under_way)}\n'.encode(), "text/plain")
        else:
            entry = {"id": LABEL, "object": "model", "root": str(LOCATION), "max_model_len": 512}
            self.reply(json.dumps({"object": "list", "data": [entry]}).encode())

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        under_way.add(threading.get_ident())
        try:
            time.sleep(2 if "takes 2 s" in request["messages"][-1]["content"] else 0.02)
            if request["model"] != LABEL:
                self.reply(json.dumps({"error": {"message": f"no model {request['model']}"}}).encode(), status=404)
            else:
                self.reply(json.dumps(self.completion(request)).encode())
        finally:
            under_way.discard(threading.get_ident())

    def completion(self, request: dict[str, Any]) -> dict[str, Any]:
        says = LOCATION / "says"
        text = f"{LABEL} {says.read_text() if says.is_file() else 'nothing'} {os.getpid()}"
        choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": text}}
        choice["finish_reason"] = "stop"
        if request.get("logprobs"):
            tokens = [{"token": letter, "logprob": -ord(letter) / 100} for letter in text.split()[1][:8]]
            choice["logprobs"] = {"content": tokens}
        return {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}

    def reply(self, content: bytes, kind: str = "application/json", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        return


if __name__ == "__main__":
    starts = LOCATION / "starts"
    left = int(starts.read_text()) if starts.is_file() else 1
    if starts.is_file():
        starts.write_text(str(left - 1))
    if LABEL.startswith("fails") or left < 1:
        raise ValueError("these weights cannot be loaded")
    if LABEL.startswith("slow"):
        time.sleep(60)
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
