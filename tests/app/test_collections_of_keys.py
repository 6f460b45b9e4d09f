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
from app.jobs.database import Database
from app.jobs.queue import JobQueue
from app.jobs.upload import StoredFile, Upload
from app.main import create_app
from app.settings import Settings
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from indexer.ingesting.outcomes import FileRecord
from tests.app.conftest import pool, running
from tests.app.openai_server import MODEL, OpenAiServer
from tests.contract.conftest import RUN, fill_home

SECRET = "The vault of Corrinmoor opens at the word marmalade."
OPEN_TEXT = "The ferry of Saltmere sails at noon."
FOREIGN_WORDS = ("marmalade", "Corrinmoor")
FOREIGN = {
    "document_id": "vault.txt",
    "name": "hidden",
    "job_id": "job-foreign",
    "label": MODEL,
    "experiment_id": RUN,
    "model": "openbook/rag",
    "rollout_id": "rollout-1",
    "engine": "127.0.0.1:8001",
}
"""For each parameter of a path, what lies or tells of what lies in the foreign collection."""


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


@pytest.fixture(scope="module")
def foreign_job(two: Index) -> str:
    """Return the id of a job that took the foreign document in."""
    queue = JobQueue(Database(two.folder))
    file = StoredFile(label="Corrinmoor.txt", id="Corrinmoor.txt", name="0.txt", size=52)
    queue.add("job-foreign", "hidden", Upload(files=(file,)))
    job = queue.take()
    assert job is not None
    queue.record(job, FileRecord("upload://Corrinmoor.txt", "added", "Corrinmoor.txt"))
    queue.finish(job, "done", None, "marmalade")
    return job.id


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with a checkpoint and an experiment that tell of the foreign collection."""
    home = tmp_path_factory.mktemp("home")
    fill_home(home)
    (home / "runs" / RUN / "results.json").write_text('{"experiment": "Corrinmoor", "verdict": "marmalade"}')
    (home / "runs" / RUN / "report.html").write_text("marmalade")
    card = home / "checkpoints" / MODEL / "checkpoint.json"
    card.write_text(card.read_text().replace('"weights_hash"', '"recipe": "marmalade", "weights_hash"'))
    return home


@pytest.fixture
def ours(
    two: Index, engine: OpenAiServer, tmp_path: Path, home: Path, foreign_job: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[httpx.Client]:
    """Return a client whose key may do anything, with the collection `ours` alone."""
    monkeypatch.setenv("OPENBOOK_HOME", str(home))
    keys_file = tmp_path / "keys.json"
    _, secret = create_key(keys_file, "ours", ("read", "write", "admin"), ("ours", "later"))
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
    before = two.collection("hidden")
    for path, operations in ours.get("/openapi.json").json()["paths"].items():
        for method in operations:
            for url, body in attempts(path, foreign_passages(two)):
                response = ours.request(method, url, json=body if method != "get" else None)
                shown = response.text + str(response.headers)
                assert not any(word in shown for word in FOREIGN_WORDS), (method, url, body)
                if path not in OPEN:
                    assert response.status_code in (400, 403, 404, 405, 422) or "hidden" not in shown, (method, url)
                tried += 1
    assert tried >= 400
    assert two.collection("hidden") == before
    sent = str(engine.requests)
    assert not any(word in sent for word in FOREIGN_WORDS)


def attempts(path: str, passages: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield URLs and bodies that ask an operation for what lies in the foreign collection."""
    # A parameter that is not named here is one of a route that nobody thought of: name something foreign for it.
    filled = path.format_map(FOREIGN)
    question = "What is the word that opens the vault?"
    bodies: list[dict[str, Any]] = [
        {"question": question, "collection": "hidden"},
        {"question": question, "collection": "hidden", "retriever": "hybrid"},
        {"question": question, "retriever": "given", "passage_ids": passages, "collection": "ours"},
        {"question": question, "retriever": "given", "passage_ids": passages, "collection": "hidden"},
        {"id": "vault.txt", "text": "The vault is open.", "collection": "hidden"},
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
