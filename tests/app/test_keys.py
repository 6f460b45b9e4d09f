"""API keys: made and revoked at the command line, asked for by a running server, and never lenient."""

from __future__ import annotations

import contextlib
import http.client
import json
import stat
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from app.access.key import ScopeName
from app.access.keyring import create_key, read_keys, revoke_key
from app.access.live_keys import LiveKeys
from app.commands.keys import keys as keys_command
from app.errors import KeyNameTaken, KeyNotFound, KeysDamaged, OpenHost
from app.server import _refuse_open_host
from app.settings import Settings
from corpus.errors import UsageError
from tests.app.conftest import Serve
from tests.app.openai_server import OpenAiServer

KEEPER = {"question": "Who is the keeper of the lighthouse?"}
Guarded = Callable[..., httpx.Client]


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "keys.json"


def key(file: Path, name: str = "ada", scopes: tuple[ScopeName, ...] = ("read",), *collections: str) -> dict[str, str]:
    """Make a key and return the header that shows it."""
    _, secret = create_key(file, name, scopes, collections or None)
    return {"authorization": f"Bearer {secret}"}


def run(home: Path, *arguments: str) -> tuple[str, str]:
    result = CliRunner().invoke(keys_command, arguments, env={"OPENBOOK_HOME": str(home)}, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout, result.stderr


def test_a_secret_is_shown_once_and_kept_nowhere(keys_file: Path) -> None:
    secret, explained = run(keys_file.parent, "create", "ada", "--scope", "read", "--collection", "team")
    kept = keys_file.read_text()
    assert secret.strip() not in kept + explained
    assert secret.strip().split("_", 2)[2] not in kept  # the random part may itself hold underscores
    assert "read on team" in explained
    listed, _ = run(keys_file.parent, "list")
    assert listed.startswith("ada  ")
    [shown] = json.loads(run(keys_file.parent, "list", "--json")[0])
    assert "sha256" not in shown


def test_the_file_of_the_keys_is_for_its_owner_alone_and_never_half_written(keys_file: Path) -> None:
    key(keys_file)
    before = keys_file.stat().st_ino
    revoke_key(keys_file, "ada")
    assert stat.S_IMODE(keys_file.stat().st_mode) == 0o600
    assert keys_file.stat().st_ino != before
    assert sorted(path.name for path in keys_file.parent.iterdir()) == ["keys.json", "keys.json.lock"]


def test_names_are_taken_once_free_again_after_revocation_and_near_misses_are_named(keys_file: Path) -> None:
    key(keys_file)
    with pytest.raises(KeyNameTaken, match="openbook keys revoke ada"):
        key(keys_file)
    with pytest.raises(KeyNotFound, match="Did you mean 'ada'"):
        revoke_key(keys_file, "adda")
    revoke_key(keys_file, "ada")
    key(keys_file)
    assert [each.revoked is None for each in read_keys(keys_file)] == [False, True]
    with pytest.raises(UsageError, match="no name for a key"):
        key(keys_file, "a b")


def test_revoking_the_last_key_says_that_nobody_is_let_in(keys_file: Path) -> None:
    key(keys_file)
    assert "nobody in" in run(keys_file.parent, "revoke", "ada")[1]


WRONG = ["Bearer ", "Bearer", "", "Basic YTpi", "Bearer ob_", "Bearer ob_00000000_x", "ob", "Bearer null", "Bearer é"]


@pytest.mark.parametrize("shown", [None, *WRONG])
def test_without_a_valid_key_a_guarded_server_answers_nothing(serve: Serve, keys_file: Path, shown: str | None) -> None:
    key(keys_file)
    api = serve(keys_file=keys_file)
    # httpx sends no header that ends in a space.
    connection = http.client.HTTPConnection(api.base_url.host, api.base_url.port or 80, timeout=10)
    with contextlib.closing(connection):
        headers = {} if shown is None else {"authorization": shown.encode("latin-1")}
        connection.request("POST", "/v1/answers", json.dumps(KEEPER), {"content-type": "application/json", **headers})
        response = connection.getresponse()
        problem = json.loads(response.read())
    challenge = response.headers["www-authenticate"]
    assert (response.status, problem["type"]) == (401, "urn:openbook:key-required")
    assert challenge.startswith('Bearer realm="openbook"')
    assert ("invalid_token" in challenge) == (shown is not None)
    assert problem["request_id"] == response.headers["x-request-id"]


def test_two_authorization_headers_are_no_key(serve: Serve, keys_file: Path) -> None:
    shown = key(keys_file)["authorization"]
    headers = [("authorization", shown), ("authorization", shown)]
    assert serve(keys_file=keys_file).get("/v1/documents", headers=headers).status_code == 401


def test_a_key_lets_in_until_it_is_revoked_under_the_running_server(serve: Serve, keys_file: Path) -> None:
    api = serve(keys_file=keys_file)
    assert api.get("/v1/documents").status_code == 200
    ada, bob = key(keys_file), key(keys_file, "bob")
    assert api.get("/v1/documents").status_code == 401
    assert api.post("/v1/answers", json=KEEPER, headers=ada).status_code == 200
    revoke_key(keys_file, "ada")
    assert api.get("/v1/documents", headers=ada).status_code == 401
    assert api.get("/v1/documents", headers=bob).status_code == 200


def test_neither_revoking_every_key_nor_losing_their_file_opens_a_server(serve: Serve, keys_file: Path) -> None:
    ada = key(keys_file)
    api = serve(keys_file=keys_file)
    revoke_key(keys_file, "ada")
    assert [api.get("/v1/documents", headers=shown).status_code for shown in ({}, ada)] == [401, 401]
    keys_file.unlink()
    assert [api.get("/v1/documents", headers=shown).status_code for shown in ({}, ada)] == [401, 401]


@pytest.mark.parametrize("content", ["", "[]", '{"keys": [{"id": "x"}]}', "\0"])
def test_a_damaged_file_of_keys_lets_nobody_in(serve: Serve, keys_file: Path, content: str) -> None:
    ada = key(keys_file)
    api = serve(keys_file=keys_file)
    keys_file.write_text(content)
    for shown in ({}, ada):
        response = api.get("/v1/documents", headers=shown)
        assert (response.status_code, response.json()["type"]) == (503, "urn:openbook:keys-damaged")
    with pytest.raises(KeysDamaged, match="Nobody is let in"):
        LiveKeys(keys_file)


def test_what_a_key_may_not_do_is_403_and_names_the_scope(serve: Serve, keys_file: Path) -> None:
    reads, writes = key(keys_file), key(keys_file, "bob", ("write",))
    api = serve(keys_file=keys_file)
    for method, path, shown, scope in (
        ("DELETE", "/v1/documents/ferry.md", reads, "write"),
        ("PUT", "/v1/a-route-of-tomorrow", reads, "write"),
        ("POST", "/v1/checkpoints/small@1/promote", writes, "admin"),
        ("GET", "/v1/documents", writes, "read"),
        ("POST", "/v1/answers", writes, "read"),
    ):
        response = api.request(method, path, headers=shown)
        assert response.status_code == 403
        assert f'error="insufficient_scope", scope="{scope}"' in response.headers["www-authenticate"]
        assert f"--scope {scope}" in response.json()["detail"]
    root = key(keys_file, "root", ("admin",))
    assert api.get("/v1/documents", headers=root).status_code == 200


def test_health_is_open_and_tells_details_to_those_who_show_a_key(
    serve: Serve, keys_file: Path, engine: OpenAiServer
) -> None:
    ada = key(keys_file)
    api = serve(keys_file=keys_file)
    assert api.get("/healthz").json() == {"status": "ok"}
    for shown in ({}, {"authorization": "Bearer wrong"}):
        assert api.get("/readyz", headers=shown).json() == {"status": "ready"}
    assert api.get("/readyz", headers=ada).json()["engine_url"] == engine.url
    failing = serve(keys_file=keys_file, engine_problem=lambda: "The engine died in /secret/place.")
    assert "secret" in failing.get("/readyz", headers=ada).text
    refused = failing.get("/readyz")
    assert (refused.status_code, "secret" in refused.text) == (503, False)


def test_metrics_need_a_key_for_all_collections(serve: Serve, keys_file: Path) -> None:
    everything, limited = key(keys_file), key(keys_file, "bob", ("read",), "default")
    api = serve(keys_file=keys_file)
    assert [api.get("/metrics", headers=shown).status_code for shown in ({}, limited, everything)] == [401, 403, 200]


def test_an_address_that_others_can_reach_is_served_with_keys_or_with_insecure(
    keys_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(OpenHost, match="openbook keys create"):
        _refuse_open_host(Settings(host="0.0.0.0"), LiveKeys(keys_file))
    _refuse_open_host(Settings(host="0.0.0.0", insecure=True), LiveKeys(keys_file))
    assert "can read every document" in capsys.readouterr().err
    key(keys_file)
    _refuse_open_host(Settings(host="0.0.0.0"), LiveKeys(keys_file))


def test_an_empty_file_of_keys_counts_as_none_on_an_open_address(keys_file: Path) -> None:
    keys_file.parent.mkdir()
    keys_file.write_text('{"format": 1, "keys": []}')
    with pytest.raises(OpenHost):
        _refuse_open_host(Settings(host="0.0.0.0"), LiveKeys(keys_file))
