"""A key that is limited to a collection learns nothing of the others, through any route."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.access.caller import EVERYBODY, acting_as, in_context
from app.access.guarded_index import GuardedIndex
from app.access.keyring import create_key
from app.api.authentication import OPEN
from app.errors import CallerUnknown
from app.main import create_app
from app.settings import Settings
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from tests.app.conftest import pool, running
from tests.app.openai_server import OpenAiServer

SECRET = "The vault of Corrinmoor opens at the word marmalade."
OPEN_TEXT = "The ferry of Saltmere sails at noon."
FOREIGN_WORDS = ("marmalade", "Corrinmoor")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Return an index of a collection of ours and one of theirs."""
    folder = tmp_path_factory.mktemp("two")
    for collection, name, text in (("ours", "ferry.txt", OPEN_TEXT), ("hidden", "vault.txt", SECRET)):
        (folder / collection).mkdir()
        (folder / collection / name).write_text(text)
        ingest(folder / "store", [folder / collection], collection)
    index = Index.open(folder / "store")
    yield index
    index.close()


@pytest.fixture
def ours(two: Index, engine: OpenAiServer, tmp_path: Path) -> Iterator[httpx.Client]:
    """Return a client whose key may do anything, with the collection `ours` alone."""
    keys_file = tmp_path / "keys.json"
    _, secret = create_key(keys_file, "ours", ("read", "write"), ("ours", "later"))
    settings = Settings(store=tmp_path, engine_url=engine.url, prompt="passages", keys_file=keys_file)
    app = create_app(settings, two, [pool(engine.url)])
    headers = {"authorization": f"Bearer {secret}"}
    with running(app) as url, httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=20) as client:
        yield client


def foreign_passages(two: Index) -> list[int]:
    return [hit.chunk_id for hit in two.sample("hidden", 10)]


def test_with_its_own_collection_the_key_works(ours: httpx.Client) -> None:
    answer = ours.post("/v1/answers", json={"question": "When does the ferry sail?", "collection": "ours"})
    assert answer.status_code == 200
    assert OPEN_TEXT in answer.text
    assert ours.get("/readyz").json()["collections"] == {"ours": 1}


def test_no_route_tells_a_foreign_key_anything(ours: httpx.Client, two: Index, engine: OpenAiServer) -> None:
    """Every operation of the OpenAPI document, with the foreign collection in each place that takes one."""
    engine.text = "noon"
    tried = 0
    for path, operations in ours.get("/openapi.json").json()["paths"].items():
        for method in operations:
            for url, body in attempts(path, foreign_passages(two)):
                response = ours.request(method, url, json=body if method != "get" else None)
                shown = response.text + str(response.headers)
                assert not any(word in shown for word in FOREIGN_WORDS), (method, url, body)
                if path not in OPEN:
                    assert response.status_code in (400, 403, 404, 405, 422) or "hidden" not in shown, (method, url)
                tried += 1
    assert tried >= 20
    sent = str(engine.requests)
    assert not any(word in sent for word in FOREIGN_WORDS)


def attempts(path: str, passages: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield URLs and bodies that ask an operation for what lies in the foreign collection."""
    filled = path.replace("{document_id}", "vault.txt").replace("{collection}", "hidden")
    filled = filled.replace("{", "").replace("}", "")
    question = "What is the word that opens the vault?"
    bodies: list[dict[str, Any]] = [
        {"question": question, "collection": "hidden"},
        {"question": question, "collection": "hidden", "retriever": "hybrid"},
        {"question": question, "retriever": "given", "passage_ids": passages, "collection": "ours"},
        {"question": question, "retriever": "given", "passage_ids": passages, "collection": "hidden"},
        {"messages": [{"role": "user", "content": question}], "openbook": {"collection": "hidden"}},
        {"messages": [{"role": "user", "content": question}], "openbook": {"collection": "hidden"}, "stream": True},
    ]
    for query in ("?collection=hidden", "?collection=ours", "?collection=later", "?collection=ours&collection=hidden"):
        for body in bodies:
            yield filled + query, body


def test_a_collection_that_is_not_there_is_refused_like_one_that_is(ours: httpx.Client) -> None:
    there = ours.get("/v1/documents?collection=hidden")
    nowhere = ours.get("/v1/documents?collection=nowhere")
    assert there.status_code == nowhere.status_code == 403
    assert there.json()["detail"].replace("hidden", "nowhere") == nowhere.json()["detail"]


def test_a_foreign_passage_is_as_missing_as_one_that_never_was(ours: httpx.Client, two: Index) -> None:
    [foreign] = foreign_passages(two)
    given = {"question": "What opens it?", "retriever": "given", "collection": "ours"}
    there = ours.post("/v1/prompts", json={**given, "passage_ids": [foreign]})
    nowhere = ours.post("/v1/prompts", json={**given, "passage_ids": [99999]})
    assert there.status_code == nowhere.status_code == 404
    assert there.json()["detail"].replace(str(foreign), "99999") == nowhere.json()["detail"]


def test_a_collection_of_the_key_that_does_not_exist_yet_names_no_other(ours: httpx.Client) -> None:
    response = ours.get("/v1/documents?collection=later")
    assert (response.status_code, "hidden" in response.text) == (404, False)
    assert "ours" in response.json()["detail"]


NOT_FOR_ROUTES = {"open", "close", "warm_up", "sample", "folder"}


def test_every_way_of_reading_the_index_is_guarded_or_left_out() -> None:
    public = {name for name, _ in inspect.getmembers(Index) if not name.startswith("_")}
    guarded = {name for name, _ in inspect.getmembers(GuardedIndex) if not name.startswith("_")}
    assert guarded == public - NOT_FOR_ROUTES


def test_a_thread_that_was_not_told_who_calls_is_refused(two: Index) -> None:
    guarded, outcomes = GuardedIndex(two), []

    def read() -> None:
        try:
            outcomes.append(len(guarded.documents("hidden")))
        except CallerUnknown:
            outcomes.append("refused")

    with acting_as(EVERYBODY):
        for work in (read, in_context(read)):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    assert outcomes == ["refused", 1]
