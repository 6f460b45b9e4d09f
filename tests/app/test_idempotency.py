"""A write that is sent twice happens once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from app.access.keyring import create_key
from app.jobs.database import Database
from app.jobs.replies import KEPT_SECONDS, Replies
from tests.app.library import Library, open_library

TEXT = {"id": "once.md", "text": "The bell rings once."}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_library(tmp_path_factory.mktemp("twice")) as opened:
        yield opened


def jobs(library: Library) -> int:
    return len(library.client.get("/v1/jobs?limit=200").json()["jobs"])


def test_the_same_request_with_the_same_key_gets_the_same_response_and_happens_once(library: Library) -> None:
    before = jobs(library)
    first, second = (
        library.client.post("/v1/documents", json=TEXT, headers={"idempotency-key": "one"}) for _ in range(2)
    )
    assert (first.status_code, first.content, first.headers["location"]) == (
        second.status_code,
        second.content,
        second.headers["location"],
    )
    assert ("idempotent-replayed" in first.headers, second.headers["idempotent-replayed"]) == (False, "true")
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert jobs(library) == before + 1


def test_a_form_that_is_sent_again_is_the_same_in_spite_of_its_random_boundary(library: Library) -> None:
    sent = [
        library.client.post("/v1/documents", files={"file": ("a.md", content)}, headers={"idempotency-key": "form"})
        for content in (b"The gate opens.", b"The gate opens.", b"The gate shuts.")
    ]
    assert sent[0].request.headers["content-type"] != sent[1].request.headers["content-type"]
    assert [each.status_code for each in sent] == [202, 202, 422]
    assert sent[0].json()["id"] == sent[1].json()["id"]


def test_another_body_or_another_request_with_the_same_key_is_422(library: Library) -> None:
    header = {"idempotency-key": "reused"}
    library.client.post("/v1/documents", json=TEXT, headers=header)
    other_body = library.client.post("/v1/documents", json={**TEXT, "text": "It rings twice."}, headers=header)
    other_path = library.client.delete("/v1/documents/ferry.md", headers=header)
    assert [other_body.status_code, other_path.status_code] == [422, 422]
    assert {other_body.json()["type"], other_path.json()["type"]} == {"urn:openbook:key-reused"}
    assert library.client.get("/v1/documents/ferry.md").status_code == 200


def test_a_deletion_that_is_sent_again_is_answered_as_the_first_was(library: Library) -> None:
    sent = [library.client.delete("/v1/documents/school.md", headers={"idempotency-key": "gone"}) for _ in range(2)]
    assert [each.status_code for each in sent] == [200, 200]
    assert library.client.delete("/v1/documents/school.md").status_code == 404


def test_while_the_first_is_under_way_the_second_is_409(library: Library) -> None:
    go_on = threading.Event()

    def slowly() -> Iterator[bytes]:
        yield b'{"id": "slow.md", '
        go_on.wait(20)
        yield b'"text": "It comes slowly."}'

    def send(content: Iterator[bytes] | bytes) -> httpx.Response:
        headers = {"idempotency-key": "slow", "content-type": "application/json"}
        return library.client.post("/v1/documents", content=content, headers=headers)

    with ThreadPoolExecutor() as pool:
        first = pool.submit(send, slowly())
        database = Database(library.store)
        while not database.rows("SELECT 1 FROM responses WHERE key = 'slow'"):
            assert not first.done()
        second = send(b"{}")
        go_on.set()
        assert first.result().status_code == 202
    database.close()
    assert (second.status_code, second.headers["retry-after"]) == (409, "1")


def test_what_failed_for_a_moment_may_be_sent_again(library: Library, tmp_path: Path) -> None:
    replies = Replies(Database(tmp_path))
    assert replies.begin("a", "k", "DELETE /x") is None
    replies.forget("a", "k")
    assert replies.begin("a", "k", "DELETE /x") is None


def test_a_key_is_forgotten_after_a_day(tmp_path: Path) -> None:
    database = Database(tmp_path)
    replies = Replies(database)
    replies.begin("a", "k", "DELETE /x")
    with database.transaction() as connection:
        connection.execute("UPDATE responses SET begun = begun - ?", (KEPT_SECONDS + 1,))
    assert replies.begin("a", "k", "DELETE /y") is None


@pytest.mark.parametrize("key", ["", "a" * 256, "é"])
def test_a_key_that_is_none_is_400(library: Library, key: str) -> None:
    response = library.client.post("/v1/documents", json=TEXT, headers=[(b"idempotency-key", key.encode())])
    assert (response.status_code, response.json()["type"]) == (400, "urn:openbook:key-malformed")


def test_two_callers_may_take_the_same_key(tmp_path: Path) -> None:
    keys_file = tmp_path / "keys.json"
    secrets = [create_key(keys_file, name, ("write",))[1] for name in ("ada", "ben")]
    with open_library(tmp_path, keys_file=keys_file) as library:
        sent = [
            library.client.post(
                "/v1/documents",
                json={**TEXT, "id": f"{number}.md"},
                headers={"idempotency-key": "mine", "authorization": f"Bearer {secret}"},
            )
            for number, secret in enumerate(secrets)
        ]
    assert [each.status_code for each in sent] == [202, 202]
    assert sent[0].json()["id"] != sent[1].json()["id"]


def test_a_question_takes_no_key(library: Library) -> None:
    sent = [
        library.client.post("/v1/search", json={"question": q}, headers={"idempotency-key": "ask"})
        for q in ("ferry", "bell")
    ]
    assert [each.status_code for each in sent] == [200, 200]
