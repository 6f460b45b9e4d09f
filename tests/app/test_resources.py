"""Collections, documents, checkpoints and experiments, as the API shows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.access.keyring import create_key
from app.api import cursors
from app.errors import CursorRefused
from app.schemas.answer import AnswerRequest
from app.schemas.arm import SEARCH_OPTIONS
from app.schemas.search import SearchRequest
from tests.app.library import Library, open_library
from tests.app.openai_server import MODEL
from tests.contract.conftest import RUN, fill_home


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("resources")
    fill_home(folder / "home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENBOOK_HOME", str(folder / "home"))
        with open_library(folder) as opened:
            yield opened


def test_a_search_returns_what_an_answer_rests_on_with_scores(library: Library) -> None:
    asked = {"question": "Who keeps the lighthouse?", "top_k": 3}
    found = library.client.post("/v1/search", json=asked).json()
    prompt = library.client.post("/v1/prompts", json=asked).json()
    assert found["passages"] == prompt["passages"]
    assert [passage["label"] for passage in found["passages"]] == [1, 2, 3]
    assert found["passages"][0]["score"] >= found["passages"][-1]["score"]
    assert (found["index_generation"], found["index_revision"], found["nothing_found"]) == (1, 1, None)
    assert library.engine.requests == []


def test_a_search_takes_every_option_of_an_answer_that_says_what_is_found() -> None:
    shared = {*SEARCH_OPTIONS, "collapse", "superseded", "question"}
    for name in shared:
        assert SearchRequest.model_fields[name].annotation == AnswerRequest.model_fields[name].annotation, name


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"filter": {"title": "nothing has it"}}, "filter_matches_nothing"),
        ({"min_score": 1.01}, "below_threshold"),
        ({"retriever": "lexical"}, "no_word_found"),
    ],
)
def test_a_search_that_finds_nothing_says_why(library: Library, options: dict, why: str) -> None:
    found = library.client.post("/v1/search", json={"question": "zzzz", **options}).json()
    assert (found["passages"], found["nothing_found"]) == ([], why)


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        ({"question": " "}, 422, "blank"),
        ({"question": "x", "retriever": "none"}, 422, "retriever"),
        ({"question": "x", "topk": 3}, 422, "Did you mean 'top_k'?"),
        ({"question": "x", "collection": "nowhere"}, 404, "default"),
        ({"question": "x", "min_score": "calibrated"}, 422, "calibrate"),
        ({"question": "x", "filter": {"colour": "red"}}, 422, "colour"),
    ],
)
def test_a_search_that_cannot_be_done_is_refused(library: Library, body: dict, status: int, expected: str) -> None:
    response = library.client.post("/v1/search", json=body)
    assert (response.status_code, expected in response.json()["detail"]) == (status, True), response.text


def test_a_collection_shows_what_is_in_it_and_how_it_is_searched(library: Library) -> None:
    [listed] = library.client.get("/v1/collections").json()["collections"]
    shown = library.client.get("/v1/collections/default").json()
    assert listed == shown
    assert {name: shown[name] for name in ("name", "documents", "chunks", "revision", "generation", "min_score")} == {
        "name": "default",
        "documents": 6,
        "chunks": 6,
        "revision": 1,
        "generation": 1,
        "min_score": None,
    }
    assert (shown["dimension"], shown["index"]) == (384, "exact vectors")
    assert library.client.get("/v1/collections/nowhere").status_code == 404


def test_a_cursor_is_opaque_and_good_for_its_own_list_alone(library: Library) -> None:
    page = library.client.get("/v1/documents?limit=2").json()
    cursor = page["next_cursor"]
    assert page["documents"][-1]["id"] not in cursor
    assert library.client.get(f"/v1/documents?limit=2&cursor={cursor}").json()["documents"][0]["id"] == "ferry.md"
    for wrong in ("bridge.md", cursors.encode("jobs", 3), cursor[:-4], "ÿ", "W10", "bnVsbA"):
        response = library.client.get("/v1/documents", params={"cursor": wrong})
        assert (response.status_code, response.json()["type"]) == (422, "urn:openbook:cursor-refused"), wrong


@pytest.mark.parametrize("position", ["a", "", "é/ü?#%", 0, 2**62])
def test_a_cursor_comes_back_as_it_went(position: str | int) -> None:
    cursor = cursors.encode("a list", position)
    decode = cursors.decode_text if isinstance(position, str) else cursors.decode_number
    assert decode("a list", cursor) == position
    assert cursor.isascii()
    with pytest.raises(CursorRefused):
        decode("another list", cursor)


def test_a_document_is_shown_as_of_a_day_or_in_a_version_but_not_both(library: Library) -> None:
    current = library.client.get("/v1/documents/ferry.md").json()
    assert library.client.get(f"/v1/documents/ferry.md?version={current['version']}").json() == current
    assert library.client.get("/v1/documents/ferry.md?as_of=1900-01-01").status_code == 404
    assert library.client.get("/v1/documents/ferry.md?version=1&as_of=2026-01-01").status_code == 422
    assert library.client.get(f"/v1/documents/ferry.md?version={2**63}").status_code == 422


def test_checkpoints_are_listed_with_their_cards_and_what_is_served(library: Library, tmp_path: Path) -> None:
    [view] = library.client.get("/v1/checkpoints").json()["checkpoints"]
    assert (view["label"], view["served"], view["card"]["weights_hash"]) == (MODEL, True, "0" * 64)
    assert library.client.get(f"/v1/checkpoints/{MODEL}").json() == view
    missing = library.client.get("/v1/checkpoints/smal@1")
    assert (missing.status_code, f"Did you mean '{MODEL}'?" in missing.json()["detail"]) == (404, True)


def test_a_damaged_card_is_a_line_of_the_list_and_not_its_end(library: Library) -> None:
    folder = library.store.parent / "home" / "checkpoints" / "torn@1"
    folder.mkdir()
    (folder / "checkpoint.json").write_text("{")
    try:
        views = {view["label"]: view for view in library.client.get("/v1/checkpoints").json()["checkpoints"]}
    finally:
        (folder / "checkpoint.json").unlink()
    assert views.keys() == {MODEL, "torn@1"}
    assert "checkpoint.json" in views["torn@1"]["problem"]


def test_a_damaged_run_is_an_error_of_its_own_and_not_of_the_list(library: Library) -> None:
    listed = {each["id"]: each for each in library.client.get("/v1/experiments").json()["experiments"]}
    assert {name: each["status"] for name, each in listed.items()} == {
        RUN: "finished",
        "half-1": "unfinished",
        "broken-1": "damaged",
        "odd-1": "damaged",
    }
    assert (listed[RUN]["experiment"], listed[RUN]["verdict"]) == ("demo", "rag is better.")
    codes = {name: library.client.get(f"/v1/experiments/{name}").status_code for name in listed}
    assert codes == {RUN: 200, "half-1": 409, "broken-1": 500, "odd-1": 200}
    assert library.client.get("/v1/experiments/broken-1").json()["type"] == "urn:openbook:experiment-damaged"


def test_results_come_as_they_lie_on_the_disk(library: Library) -> None:
    written = (library.store.parent / "home" / "runs" / RUN / "results.json").read_bytes()
    assert library.client.get(f"/v1/experiments/{RUN}").content == written


def test_a_report_can_run_and_load_nothing(library: Library) -> None:
    page = library.client.get(f"/v1/experiments/{RUN}/report")
    policy = page.headers["content-security-policy"]
    assert (page.headers["content-type"], page.text.startswith("<!doctype html>")) == ("text/html; charset=utf-8", True)
    assert "sandbox" in policy
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["content-disposition"] == f'inline; filename="{RUN}.html"'
    text = library.client.get(f"/v1/experiments/{RUN}/report?format=md")
    assert (text.headers["content-type"], text.text) == ("text/markdown; charset=utf-8", "# demo\n")
    assert library.client.get("/v1/experiments/half-1/report").status_code == 409
    assert library.client.get(f"/v1/experiments/{RUN}/report?format=pdf").status_code == 422


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..%2fetc", "%00", "nowhere", "demo-0123456789ab%0a"])
def test_the_name_of_a_run_is_one_of_the_list_and_no_path(library: Library, name: str) -> None:
    assert library.client.get(f"/v1/experiments/{name}/report").status_code == 404


def test_what_tells_of_all_collections_needs_a_key_for_all_of_them(tmp_path: Path) -> None:
    keys_file = tmp_path / "keys.json"
    limited = create_key(keys_file, "limited", ("read",), ("default",))[1]
    whole = create_key(keys_file, "whole", ("read",))[1]
    paths = ("/v1/experiments", f"/v1/experiments/{RUN}", "/v1/checkpoints", f"/v1/checkpoints/{MODEL}")
    with open_library(tmp_path, filled=False, keys_file=keys_file) as library:
        codes = [
            library.client.get(path, headers={"authorization": f"Bearer {secret}"}).status_code
            for secret in (limited, whole)
            for path in paths
        ]
    assert codes == [403, 403, 403, 403, 200, 200, 200, 200]


def test_to_delete_a_collection_needs_admin(tmp_path: Path) -> None:
    keys_file = tmp_path / "keys.json"
    secrets = [create_key(keys_file, scope, (scope,))[1] for scope in ("read", "write", "admin")]
    with open_library(tmp_path, keys_file=keys_file) as library:
        codes = [
            library.client.delete("/v1/collections/default", headers={"authorization": f"Bearer {secret}"}).status_code
            for secret in secrets
        ]
    assert codes == [403, 403, 200]
