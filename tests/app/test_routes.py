from __future__ import annotations

import httpx
import pytest

from app.schemas.document import DocumentDetail, DocumentPage
from tests.app.conftest import Serve
from tests.app.openai_server import MODEL, OpenAiServer


def test_documents_come_page_by_page(api: httpx.Client) -> None:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        behind = f"&cursor={cursor}" if cursor else ""
        page = DocumentPage.model_validate_json(api.get(f"/v1/documents?limit=2{behind}").content)
        seen += [document.id for document in page.documents]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == sorted(["bakers.md", "bridge.md", "ferry.md", "lighthouse.md", "market.md", "school.md"])
    assert page.total == 6


def test_a_document_shows_its_text_and_its_chunks(api: httpx.Client) -> None:
    found = DocumentDetail.model_validate_json(api.get("/v1/documents/ferry.md").content)
    assert "Patient Heron" in found.text
    assert all(found.text[chunk.start : chunk.end] == chunk.text for chunk in found.chunks)
    assert found.chunk_count == len(found.chunks) > 0


@pytest.mark.parametrize(
    ("path", "status", "expected"),
    [
        ("/v1/documents/fery.md", 404, "Did you mean 'ferry.md'?"),
        ("/v1/documents?collection=other", 404, "default"),
        ("/v1/documents?limi=3", 422, "Did you mean 'limit'?"),
        ("/v1/documents?limit=0", 422, "limit"),
        ("/v1/document", 404, "/openapi.json"),
    ],
)
def test_a_wrong_path_or_query_is_a_problem(api: httpx.Client, path: str, status: int, expected: str) -> None:
    response = api.get(path)
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    assert expected in response.json()["detail"]


def test_a_wrong_method_is_a_problem_that_names_the_right_one(api: httpx.Client) -> None:
    response = api.get("/v1/answers")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert response.json()["title"] == "Method Not Allowed"


def test_ready_says_what_is_served(api: httpx.Client, engine: OpenAiServer) -> None:
    ready = api.get("/readyz").json()
    assert (ready["checkpoint"], ready["engine_url"], ready["collections"]) == (MODEL, engine.url, {"default": 1})
    assert ready["revisions"] == {"default": 1}


def test_not_ready_while_the_engine_restarts(serve: Serve) -> None:
    api = serve(engine_problem=lambda: "The engine died and is being started again (1 of 3).")
    response = api.get("/readyz")
    assert (response.status_code, response.headers["retry-after"]) == (503, "30")
    assert "being started again" in response.json()["detail"]
    answer = api.post("/v1/answers", json={"question": "Who?"})
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:openbook:engine-failed")
    assert api.post("/v1/prompts", json={"question": "Who?"}).status_code == 200
    assert api.get("/healthz").status_code == 200
    assert "openbook_engine_up 0.0" in api.get("/metrics").text


def test_a_request_id_comes_back_unless_it_could_do_harm(api: httpx.Client) -> None:
    assert api.get("/healthz", headers={"x-request-id": "run-7.3"}).headers["x-request-id"] == "run-7.3"
    replaced = api.get("/healthz", headers={"x-request-id": "a b<script>"}).headers["x-request-id"]
    assert len(replaced) == 32


def test_the_openapi_document_describes_errors_and_refers_to_nothing_missing(api: httpx.Client) -> None:
    document = api.get("/openapi.json").json()
    answers = document["paths"]["/v1/answers"]["post"]
    assert {"200", "404", "422", "502", "503"} <= set(answers["responses"])
    assert "application/problem+json" in answers["responses"]["404"]["content"]
    for reference in set(_references(document)):
        name = reference.removeprefix("#/components/schemas/")
        assert name in document["components"]["schemas"]


def _references(node: object) -> list[str]:
    if isinstance(node, list):
        return [reference for item in node for reference in _references(item)]
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [reference for item in node.values() for reference in _references(item)]
    return []
