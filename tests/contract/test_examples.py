"""The OpenAPI document says what is so: each of its examples is sent to a running server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.app.library import Library

Operation = tuple[str, str, dict[str, Any]]
FIRST = ("post", "get", "delete")
NOT_HERE = frozenset(
    {
        # The job of the example has begun, and the engine is not the server's own.
        ("delete", "/v1/jobs/{job_id}"),
        ("post", "/v1/checkpoints/rollback"),
        ("post", "/v1/checkpoints/{label}/promote"),
        ("get", "/v1/rollouts/{rollout_id}"),
        ("get", "/metrics/engines/{engine}"),
    }
)
"""What cannot succeed with this server; the refusal is documented even so."""
METHODS = frozenset({"get", "post", "delete", "put", "patch"})


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """Yield path, method and description: what makes before what looks, and what deletes last."""
    for method in FIRST:
        for path, described in document["paths"].items():
            if method in described:
                yield path, method, described[method]


def example_of(document: dict[str, Any], media: dict[str, Any]) -> Any:
    if "example" in media:
        return media["example"]
    schema = media["schema"]
    return document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["examples"][0]


def filled(path: str, operation: dict[str, Any], made: dict[str, str]) -> str:
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            first = next(iter(parameter["examples"].values()))["value"]
            path = path.replace("{" + parameter["name"] + "}", quote(made.get(parameter["name"], first)))
    assert "{" not in path, "a parameter without an example"
    return path


@pytest.fixture(scope="module")
def document(library: Library) -> dict[str, Any]:
    found: dict[str, Any] = library.client.get("/openapi.json").json()
    return found


def test_each_example_is_answered_as_the_document_says(library: Library, document: dict[str, Any]) -> None:
    made: dict[str, str] = {}
    wrong = []
    sent = 0
    for path, method, operation in operations(document):
        url = filled(path, operation, made)
        bodies = operation.get("requestBody", {}).get("content", {None: None})
        for kind, media in bodies.items():
            if kind == "multipart/form-data":
                response = library.client.post(url, files={"file": ("tides.md", b"High water is at noon.")})
            else:
                body = None if media is None else example_of(document, media)
                response = library.client.request(method, url, json=body)
            sent += 1
            documented = operation["responses"].get(str(response.status_code), {})
            content = response.headers.get("content-type", "").partition(";")[0]
            is_well = response.is_success or (method, path) in NOT_HERE
            if not is_well or content not in documented.get("content", {}):
                wrong.append((method, url, response.status_code, content, response.text[:200]))
            if path == "/v1/documents" and method == "post" and response.is_success:
                made["job_id"] = response.json()["id"]
    assert wrong == []
    assert sent >= 25


def test_each_operation_says_what_it_does_and_has_a_name_of_its_own(document: dict[str, Any]) -> None:
    found = list(operations(document))
    assert len(found) == sum(len(METHODS & described.keys()) for described in document["paths"].values())
    names = [operation["operationId"] for _, _, operation in found]
    assert len(set(names)) == len(names)
    assert [path for path, _, each in found if not each.get("description") or not each.get("tags")] == []


def test_every_body_refuses_a_field_that_is_not_known(library: Library, document: dict[str, Any]) -> None:
    refused = {}
    for path, method, operation in operations(document):
        for kind, media in operation.get("requestBody", {}).get("content", {}).items():
            if kind == "multipart/form-data":
                response = library.client.post(path, files={"file": ("a.md", b"x")}, data={"surprise": "1"})
            else:
                response = library.client.request(method, path, json={**example_of(document, media), "surprise": 1})
            refused[path, kind] = response.status_code
            assert "surprise" in response.text
    assert set(refused.values()) <= {400, 422}
    assert len(refused) >= 6


def test_an_error_of_any_path_is_a_problem(library: Library, document: dict[str, Any]) -> None:
    found: list[httpx.Response] = []
    for path, method, _ in operations(document):
        wrong = "PUT" if method != "put" else "TRACE"
        found.append(library.client.request(wrong, path.replace("{", "").replace("}", "")))
    types = {response.headers["content-type"] for response in found}
    assert {response.status_code for response in found} == {405}
    assert types == {"application/problem+json", "application/json"}
