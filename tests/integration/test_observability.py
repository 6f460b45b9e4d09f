"""Metrics and traces with the real vLLM."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from app.base_checkpoint import LABEL
from tests.app.otlp_receiver import attributes, otlp_receiver
from tests.app.test_metrics import metrics_asked_for
from tests.conftest import REPOSITORY, SALTMERE, RunningServer, openbook_environment, run_openbook, wait_until_ready
from tests.waiting import wait_for

pytestmark = pytest.mark.engine

WHO = {"question": "Who is the keeper of the lighthouse?", "top_k": 1}
TRACE = "0af7651916cd43dd8448eb211c80319c"
SERIES = re.compile(r"^([a-z_:]+)(?:\{| )", re.MULTILINE)


def test_what_the_dashboard_asks_of_vllm_is_there_through_the_server(server: RunningServer) -> None:
    assert httpx.post(f"{server.url}/v1/answers", json=WHO, timeout=120, trust_env=False).status_code == 200
    [target] = httpx.get(f"{server.url}/metrics/targets", trust_env=False).json()
    assert target["labels"]["engine"] == server.engine_url.removeprefix("http://")
    shown = httpx.get(f"{server.url}{target['labels']['__metrics_path__']}", trust_env=False).text
    asked = {name for name in metrics_asked_for() if name.startswith("vllm:")}
    assert len(asked) >= 4
    assert asked - set(SERIES.findall(shown)) == set()


@pytest.mark.slow
def test_one_trace_goes_from_the_client_through_retrieval_into_vllm(tmp_path: Path, base_checkpoint: Path) -> None:
    """Slow because vLLM sends spans only where it was started to."""
    assert run_openbook(tmp_path, "ingest", str(SALTMERE)).returncode == 0
    log = tmp_path / "serve.log"
    with otlp_receiver() as receiver, log.open("w") as output:
        command = ["serve", "--port", "0", "--model", str(base_checkpoint), "--otlp-endpoint", receiver.url]
        process = subprocess.Popen(
            [sys.executable, "-m", "openbook", *command],
            cwd=REPOSITORY,
            env={**openbook_environment(tmp_path), "OTEL_BSP_SCHEDULE_DELAY": "100"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            url = wait_until_ready(process, log)
            headers = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
            answered = httpx.post(f"{url}/v1/answers", json=WHO, headers=headers, timeout=120, trust_env=False)
            assert answered.status_code == 200
            wait_for(lambda: receiver.named("llm_request") and receiver.named("POST /v1/answers"), 30)
        finally:
            process.terminate()
            process.wait(60)
    [root], [generate] = receiver.named("POST /v1/answers"), receiver.named("generate")
    [engine] = receiver.named("llm_request")
    assert engine.parent_span_id == generate.span_id
    assert generate.parent_span_id == root.span_id
    ours = [span for span in receiver.spans if span.trace_id.hex() == TRACE]
    assert {"queue", "embed", "search", "prompt", "generate", "cite", "llm_request"} <= {span.name for span in ours}
    usage = answered.json()["usage"]
    assert attributes(engine)["gen_ai.usage.prompt_tokens"] == usage["prompt_tokens"]
    assert attributes(generate)["gen_ai.usage.input_tokens"] == usage["prompt_tokens"]
    assert attributes(generate)["gen_ai.request.model"] in (LABEL, base_checkpoint.name)
