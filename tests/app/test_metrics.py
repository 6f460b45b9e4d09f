"""The metrics: all that is documented is there, what a dashboard asks for exists, and labels stay few."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from app.telemetry.bounded import Bounded
from tests.app.conftest import Serve
from tests.app.library import open_library
from tests.app.openai_server import MODEL, OpenAiServer
from tests.conftest import REPOSITORY

DOCKER = REPOSITORY / "docker"
WHO = {"question": "Who is the keeper of the lighthouse?"}
NAME = re.compile(r"\b((?:openbook|vllm|process)[_:][a-z_:]+)")
DOCUMENTED = re.compile(r"^\| `((?:openbook|process)_\w+)`", re.MULTILINE)


def samples(api: httpx.Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    families = text_string_to_metric_families(api.get("/metrics").raise_for_status().text)
    return {(each.name, frozenset(each.labels.items())): each.value for family in families for each in family.samples}


def value(api: httpx.Client, name: str, **labels: str) -> float:
    """Return the sum of the samples of a name that have these labels."""
    return sum(
        number for (each, given), number in samples(api).items() if each == name and labels.items() <= set(given)
    )


def queries() -> list[str]:
    """Return every PromQL expression of the dashboards and alerts."""
    dashboards = [json.loads(path.read_text()) for path in (DOCKER / "grafana" / "dashboards").glob("*.json")]
    shown = [target["expr"] for board in dashboards for panel in board["panels"] for target in panel["targets"]]
    rules = yaml.safe_load((DOCKER / "prometheus" / "alerts.yml").read_text())["groups"]
    return shown + [rule["expr"] for group in rules for rule in group["rules"]]


def metrics_asked_for() -> set[str]:
    return {name for query in queries() for name in NAME.findall(query)}


def test_a_question_is_counted_by_arm_checkpoint_stage_and_score(api: httpx.Client) -> None:
    api.post("/v1/answers", json=WHO)
    api.post("/v1/answers", json={**WHO, "retriever": "none"})
    assert value(api, "openbook_answers_total", arm="rag", checkpoint=MODEL, key="everybody") == 1
    assert value(api, "openbook_tokens_total", kind="prompt") == 180
    assert value(api, "openbook_stage_seconds_count", stage="generate") == 2
    assert value(api, "openbook_stage_seconds_count", stage="search") == 1
    assert value(api, "openbook_stage_seconds_count", stage="first_token") == 0
    assert value(api, "openbook_top_score_count", retriever="dense") == 1
    assert value(api, "openbook_index_revision", collection="default") == 1
    assert value(api, "openbook_engine_up") == 1


def test_what_is_refused_and_what_finds_nothing_is_counted_by_its_reason(serve: Serve) -> None:
    api = serve(max_body_kib=1)
    api.post("/v1/answers", json={"question": "x" * 5000})
    api.post("/v1/answers", json={**WHO, "checkpoint": "nobody@1"})
    api.post("/v1/answers", json={**WHO, "min_score": 0.999})
    api.get("/nowhere/1")
    assert value(api, "openbook_problems_total", problem="body-too-large", status="413") == 1
    assert value(api, "openbook_problems_total", problem="checkpoint-not-served", status="404") == 1
    assert value(api, "openbook_unanswerable_total", reason="below_threshold") == 1
    assert value(api, "openbook_http_requests_total", route="unmatched", status="404") == 1


def test_citations_that_name_no_passage_are_counted(api: httpx.Client, engine: OpenAiServer) -> None:
    engine.text = "The keeper is Orla Venn [1] [7]."
    api.post("/v1/answers", json=WHO)
    assert value(api, "openbook_citations_total", validity="valid") >= 1
    assert value(api, "openbook_citations_total", validity="invalid") == 1


def test_every_documented_metric_appears_after_one_answer_and_each_of_ours_is_documented(api: httpx.Client) -> None:
    api.post("/v1/answers", json=WHO)
    found = set(re.findall(r"^# TYPE (\w+)", api.get("/metrics").text, re.MULTILINE))
    documented = set(DOCUMENTED.findall((REPOSITORY / "docs" / "observability.md").read_text()))
    assert documented - found == set()
    assert {name for name in found if name.startswith("openbook_")} == documented - {"process_resident_memory_bytes"}


def test_dashboard_and_alerts_ask_for_metrics_of_ours_that_exist(api: httpx.Client) -> None:
    api.post("/v1/answers", json=WHO)
    api.post("/v1/answers", json={**WHO, "min_score": 0.999})
    api.get("/nowhere")
    typed = set(re.findall(r"^# TYPE (\w+)", api.get("/metrics").text, re.MULTILINE))
    there = {name for name, _ in samples(api)} | typed
    asked = metrics_asked_for()
    assert len(asked) >= 15
    assert {name for name in asked if not name.startswith("vllm:")} - there == set()


def test_uploads_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        assert value(library.client, "openbook_jobs", status="done") == 0
        library.upload("tides.md", "High water is at noon.")
        assert value(library.client, "openbook_jobs", status="done") == 1


def test_prometheus_finds_every_engine_through_the_server(api: httpx.Client, engine: OpenAiServer) -> None:
    [target] = api.get("/metrics/targets").json()
    assert target["targets"] == [api.base_url.netloc.decode()]
    assert target["labels"]["engine"] == engine.url.removeprefix("http://")
    assert api.get(target["labels"]["__metrics_path__"]).status_code == 200
    unknown = api.get("/metrics/engines/example.org:80")
    assert (unknown.status_code, unknown.json()["type"]) == (404, "urn:openbook:engine-not-known")


@pytest.mark.parametrize("path", sorted(DOCKER.rglob("*.yml")), ids=lambda path: path.name)
def test_the_files_of_prometheus_and_grafana_can_be_read(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text()), dict)


def test_labels_stay_few() -> None:
    bounded = Bounded(most=2)
    assert [bounded.of(name) for name in ("ada", "bob", "carl", "ada", None)] == ["ada", "bob", "other", "ada", "other"]
