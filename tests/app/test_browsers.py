"""What a browser is told: nothing is a page, nothing is kept, and no other page may look."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from app import cli
from app.access.keyring import create_key
from corpus.errors import UsageError
from tests.app.conftest import Serve

PAGE = "https://docs.example.org"
ASK = {"origin": PAGE, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
WHO = {"question": "Who is the keeper of the lighthouse?"}


def test_every_response_says_that_it_is_data_for_the_one_who_asked(serve: Serve, tmp_path: Path) -> None:
    api = serve()
    key_file = tmp_path / "keys.json"
    create_key(key_file, "ada", ("read",))
    responses = [
        api.post("/v1/answers", json=WHO),
        api.post("/v1/answers", json={**WHO, "stream": True}),
        api.get("/nowhere"),
        api.get("/metrics"),
        api.post("/v1/answers", json={}),
        serve(max_body_kib=1).post("/v1/answers", content=b" " * 2000),
        serve(keys_file=key_file).get("/v1/documents"),
    ]
    assert [response.status_code for response in responses] == [200, 200, 404, 200, 422, 413, 401]
    for response in responses:
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["cross-origin-resource-policy"] == "same-origin"


def test_pages_of_other_origins_may_not_call_by_default(api: httpx.Client) -> None:
    response = api.post("/v1/answers", json=WHO, headers={"origin": PAGE})
    assert response.status_code == 403
    assert not [name for name in response.headers if name.startswith("access-control-")]
    assert api.options("/v1/answers", headers=ASK).status_code == 403


def test_a_page_of_an_allowed_origin_may_call_with_a_key(serve: Serve, tmp_path: Path) -> None:
    key_file = tmp_path / "keys.json"
    _, secret = create_key(key_file, "ada", ("read",))
    api = serve(cors_origin=PAGE, keys_file=key_file)
    asked = api.options("/v1/answers", headers=ASK)
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, PAGE)
    assert "access-control-allow-credentials" not in asked.headers
    assert api.options("/v1/answers", headers={**ASK, "origin": "https://evil.example"}).status_code == 400
    shown = {"authorization": f"Bearer {secret}", "origin": PAGE}
    assert api.get("/v1/documents", headers=shown).headers["access-control-allow-origin"] == PAGE
    other = api.get("/v1/documents", headers={**shown, "origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.1.5", "[fe80::1]"]
)
def test_a_page_that_gives_loopback_a_name_of_its_own_is_refused(serve: Serve, tmp_path: Path, host: str) -> None:
    api = serve()
    for path in ("/v1/documents", "/readyz", "/metrics"):
        refused = api.get(path, headers={"host": host})
        assert (refused.status_code, "--insecure" in refused.json()["detail"]) == (403, True)
    assert serve(insecure=True).get("/v1/documents", headers={"host": host}).status_code == 200
    _, secret = create_key(tmp_path / "keys.json", "ada", ("read",))
    guarded = serve(keys_file=tmp_path / "keys.json")
    assert guarded.get("/v1/documents", headers={"host": host, "authorization": f"Bearer {secret}"}).is_success


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "127.8.9.1", "[::1]:8000", "a.localhost"]
)
def test_every_name_of_this_machine_is_taken(api: httpx.Client, host: str) -> None:
    assert api.get("/v1/documents", headers={"host": host, "origin": f"http://{host}"}).status_code == 200


def test_a_page_of_another_origin_changes_nothing_on_a_server_without_keys(serve: Serve) -> None:
    api = serve(cors_origin=PAGE)
    assert api.post("/v1/prompts", json=WHO, headers={"origin": PAGE}).status_code == 200
    for origin in ("https://evil.example", "null"):
        assert api.post("/v1/prompts", json=WHO, headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize("origin", ["*", "null", "docs.example.org", "https://docs.example.org/path", "file://x"])
def test_what_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(UsageError, match="OPENBOOK_CORS_ORIGIN"):
        CliRunner().invoke(cli.serve, ["--cors-origin", origin], catch_exceptions=False)


def test_the_openapi_document_says_which_scope_each_operation_needs(api: httpx.Client) -> None:
    document = api.get("/openapi.json").json()
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    ask = document["paths"]["/v1/answers"]["post"]
    assert (ask["security"], ask["x-scope"]) == ([{"bearer": []}], "read")
    assert {"401", "403", "413", "429", "503", "504"} <= set(ask["responses"])
    assert "security" not in document["paths"]["/healthz"]["get"]
