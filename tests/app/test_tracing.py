"""Traces: one for each request, across its stages and to the engine; nothing where they are off."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.checkpoints import Model
from app.serving.command import EngineOptions, vllm_command, vllm_environment
from tests.app.conftest import Serve
from tests.app.openai_server import OpenAiServer
from tests.app.otlp_receiver import OtlpReceiver, attributes, otlp_receiver
from tests.conftest import REPOSITORY
from tests.waiting import wait_for

WHO = {"question": "Who is the keeper of the lighthouse?"}
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = {"traceparent": f"00-{TRACE}-{CALLER}-01"}


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[OtlpReceiver]:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    with otlp_receiver() as received:
        yield received


@pytest.mark.parametrize("streams", [False, True])
def test_the_stages_of_a_question_are_spans_of_the_callers_trace(
    serve: Serve, receiver: OtlpReceiver, engine: OpenAiServer, streams: bool
) -> None:
    api = serve(otlp_endpoint=receiver.url)
    assert api.post("/v1/answers", json={**WHO, "stream": streams}, headers=PARENT).status_code == 200
    wait_for(lambda: receiver.named("POST /v1/answers"))
    [root] = receiver.named("POST /v1/answers")
    stages = [span for span in receiver.spans if span.parent_span_id == root.span_id]
    assert {span.trace_id.hex() for span in [root, *stages]} == {TRACE}
    assert root.parent_span_id.hex() == CALLER
    names = {"queue", "embed", "search", "prompt", "generate", "cite"} | ({"first_token"} if streams else set())
    assert {span.name for span in stages} == names
    assert all(root.start_time_unix_nano - 10**6 <= span.start_time_unix_nano for span in stages)
    assert all(span.start_time_unix_nano <= span.end_time_unix_nano <= root.end_time_unix_nano for span in stages)
    [generate] = [span for span in stages if span.name == "generate"]
    assert engine.headers[0]["traceparent"] == f"00-{TRACE}-{generate.span_id.hex()}-01"


def test_spans_have_the_attributes_of_the_semantic_conventions_and_no_text(
    serve: Serve, receiver: OtlpReceiver
) -> None:
    serve(otlp_endpoint=receiver.url).post("/v1/answers", json=WHO, headers={"x-request-id": "run-9"})
    wait_for(lambda: receiver.named("POST /v1/answers"))
    known = attributes(receiver.named("POST /v1/answers")[0])
    assert (known["http.route"], known["http.response.status_code"]) == ("/v1/answers", 200)
    assert (known["openbook.request_id"], known["openbook.arm"]) == ("run-9", "rag")
    generated = attributes(receiver.named("generate")[0])
    assert (generated["gen_ai.operation.name"], generated["gen_ai.request.model"]) == ("chat", "small@1")
    assert (generated["gen_ai.usage.input_tokens"], generated["gen_ai.usage.output_tokens"]) == (90, 3)
    assert not any("lighthouse" in str(span) for span in receiver.spans)


def test_what_fails_is_an_error_in_its_trace(serve: Serve, receiver: OtlpReceiver, engine: OpenAiServer) -> None:
    engine.status = 500
    assert serve(otlp_endpoint=receiver.url).post("/v1/answers", json=WHO).status_code == 502
    wait_for(lambda: receiver.named("POST /v1/answers"))
    [root], [generate] = receiver.named("POST /v1/answers"), receiver.named("generate")
    assert (root.status.code, generate.status.code) == (2, 2)
    assert attributes(root)["error.type"] == "engine-refused"


def test_a_collector_that_is_not_there_costs_no_answer(serve: Serve) -> None:
    api = serve(otlp_endpoint="http://127.0.0.1:9")
    assert api.post("/v1/answers", json=WHO).status_code == 200


def test_nothing_of_opentelemetry_is_loaded_while_traces_are_off(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom app.tracing import open_tracing\nimport app.server, app.api.observing\n"
        "assert open_tracing(None) is None\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("protocol", "endpoint", "sent"),
    [("http/protobuf", "http://c:4318", "http://c:4318/v1/traces"), ("grpc", "http://c:4317", "http://c:4317")],
)
def test_vllm_sends_its_spans_where_the_server_sends_its_own(
    monkeypatch: pytest.MonkeyPatch, protocol: str, endpoint: str, sent: str
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    model, options = Model("small@1", "/nowhere"), EngineOptions(9000, otlp_endpoint=endpoint)
    command = vllm_command(model, options, on_cpu=True)
    assert command[command.index("--otlp-traces-endpoint") + 1] == sent
    assert vllm_environment(model, options, True, {})["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] == protocol
    off = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": endpoint}
    assert not any(name.startswith("OTEL_") for name in vllm_environment(model, EngineOptions(9000), True, off))
