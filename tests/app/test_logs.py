"""What the server's log says of each request, and what it never says."""

from __future__ import annotations

import json
import logging
import signal
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.access.keyring import create_key
from app.logs.formatters import JsonFormatter, TextFormatter
from tests.app.conftest import Serve
from tests.app.openai_server import OpenAiServer
from tests.app.serving import served
from tests.waiting import wait_for

WHO = {"question": "Who is the keeper of the lighthouse?"}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_as_json_every_line_is_an_object_and_each_request_has_one(tmp_path: Path, engine: OpenAiServer) -> None:
    """From the greeting to the end: progress, notes, requests and uvicorn's own lines."""
    _, secret = create_key(tmp_path / "keys.json", "ada", ["read"])
    options = ("--log-format", "json", "--log-level", "debug")
    with served(tmp_path, engine, *options) as (process, api):
        headers = {"authorization": f"Bearer {secret}", "x-request-id": "run-7"}
        asked = {"question": "Whose is the zygomorphic question?", "retriever": "none"}
        assert api.post("/v1/answers", json=asked, headers=headers).status_code == 200
        assert api.get("/healthz").status_code == 200
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    text = (tmp_path / "serve.log").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    [line] = [line for line in lines if line.get("request_id") == "run-7"]
    assert (line["logger"], line["level"], line["message"]) == ("openbook.access", "info", "POST /v1/answers")
    assert (line["key"], line["status"], line["arm"], line["checkpoint"]) == ("ada", 200, "closed_book", "small@1")
    assert (line["prompt_tokens"], line["completion_tokens"], line["ms"] > 0) == (90, 3, True)
    assert {"openbook", "uvicorn.error", "openbook.access"} <= {line["logger"] for line in lines}
    assert [line["level"] for line in lines if line.get("route") == "/healthz"] == ["debug"]
    assert not any(hidden in text for hidden in ("zygomorphic", secret, "Orla Venn"))


def records(caplog: pytest.LogCaptureFixture, count: int) -> list[dict[str, Any]]:
    """Return the records of so many requests. A client has its answer a moment before the server's log has the line."""

    def found() -> list[dict[str, Any]]:
        return [vars(record)["fields"] for record in caplog.records if record.name == "openbook.access"]

    wait_for(lambda: len(found()) >= count)
    return found()


def test_a_question_is_logged_with_its_arm_tokens_and_state_of_the_index(
    api: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "openbook.access")
    api.post("/v1/answers", json=WHO)
    api.post("/v1/answers", json={**WHO, "stream": True, "retriever": "hybrid"})
    api.post(
        "/v1/chat/completions",
        json={"model": "openbook/rag_lexical", "messages": [{"role": "user", "content": "lighthouse"}]},
    )
    lines = records(caplog, 3)
    assert [line["arm"] for line in lines] == ["rag", "rag_hybrid", "rag_lexical"]
    assert [line["route"] for line in lines] == ["/v1/answers", "/v1/answers", "/v1/chat/completions"]
    assert {(line["prompt_tokens"], line["index_generation"], line["status"]) for line in lines} == {(90, 1, 200)}


def test_what_is_refused_is_logged_with_its_problem(
    serve: Serve, engine: OpenAiServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "openbook.access")
    api = serve()
    engine.status = 500
    api.post("/v1/answers", json={})
    api.post("/v1/answers", json=WHO)
    api.get("/nowhere")
    engine.status, engine.fails_after = 200, 1
    api.post("/v1/answers", json={**WHO, "stream": True})
    lines = [(line["status"], line["problem"], line["route"]) for line in records(caplog, 4)]
    assert lines == [
        (422, "invalid-request", "/v1/answers"),
        (502, "engine-refused", "/v1/answers"),
        (404, "Not Found", "unmatched"),
        (200, "engine-refused", "/v1/answers"),
    ]


def test_probes_are_logged_at_debug_alone(api: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "openbook.access")
    for path in ("/healthz", "/readyz", "/metrics"):
        assert api.get(path).status_code == 200
    api.get("/nowhere")
    assert [line["route"] for line in records(caplog, 1)] == ["unmatched"]


def test_the_engine_is_told_the_request_id_and_the_trace(api: httpx.Client, engine: OpenAiServer) -> None:
    headers = {"x-request-id": "run-8", "traceparent": PARENT, "tracestate": "vendor=1"}
    api.post("/v1/answers", json=WHO, headers=headers)
    api.post("/v1/answers", json={**WHO, "stream": True}, headers=headers)
    api.post("/v1/answers", json=WHO, headers={"traceparent": "00-nonsense"})
    for told in engine.headers[:2]:
        assert {name: told[name] for name in headers} == headers
    assert "traceparent" not in engine.headers[2]
    assert len(engine.headers[2]["x-request-id"]) == 32


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_nobody_writes_lines_of_their_own_into_the_log(formatter: logging.Formatter) -> None:
    record = logging.LogRecord("app", logging.INFO, "", 1, "a\n2026-01-01 info \x1b[2J%s", ("\u2028x",), None)
    record.fields = {"key": "b\r\nc"}
    line = formatter.format(record)
    assert len(line.splitlines()) == 1
    assert "\x1b" not in line


def test_a_traceback_is_part_of_its_json_object() -> None:
    try:
        raise ValueError("no way")
    except ValueError:
        record = logging.LogRecord("app", logging.ERROR, "", 1, "failed", (), sys.exc_info())
    assert "ValueError: no way" in json.loads(JsonFormatter().format(record))["exception"]
