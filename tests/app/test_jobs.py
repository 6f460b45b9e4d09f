"""What was accepted is taken in once, whatever ends the server or the process that does it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from app.access.keyring import create_key
from app.jobs.database import Database
from app.jobs.queue import MOST_ATTEMPTS, JobQueue
from app.jobs.upload import Spool, StoredFile, Upload
from app.jobs.worker import Worker
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from indexer.ingesting.outcomes import FileRecord
from indexer.store.lock import writer_lock
from tests.app.library import Library, open_library
from tests.app.openai_server import openai_server
from tests.conftest import REPOSITORY, openbook_environment, wait_until_ready


def texts(count: int) -> bytes:
    """Return a JSONL file of documents."""
    rows = (
        {"id": f"row-{number}", "text": f"The row {number} of the ledger names ship {number}."}
        for number in range(count)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@contextmanager
def held_by_a_command(store: Path) -> Iterator[None]:
    """Hold the lock of the store as a command does that writes, in a thread of its own."""
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with writer_lock(store, 20):
            held.set()
            let_go.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(20)
    try:
        yield
    finally:
        let_go.set()
        thread.join()


def workers(store: Path) -> list[int]:
    """Return the ids of the processes that work on the queue of a store."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"app.jobs.worker" in command and os.fsencode(store) in command:
            found.append(int(process.name))
    return found


def wait_until(said: str, is_so) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, f"it does not happen: {said}"
        time.sleep(0.02)


def test_uploads_wait_for_a_command_that_writes_and_go_on_in_the_next_server(tmp_path: Path) -> None:
    with open_library(tmp_path, filled=False) as library, held_by_a_command(library.store):
        sent = [
            library.client.post("/v1/documents", json={"id": f"{n}.md", "text": f"Buoy {n} is red."}) for n in "abc"
        ]
        assert [response.status_code for response in sent] == [202] * 3
        cancelled = library.client.delete(sent[2].headers["location"])
        waiting = library.client.get(sent[0].headers["location"]).json()
        assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
        assert waiting["status"] in ("queued", "running")
        assert library.client.get("/healthz").status_code == 200
    assert workers(tmp_path / "store") == []
    with open_library(tmp_path, filled=False) as library:
        jobs = [library.finished(response.headers["location"]) for response in sent]
        assert [job["status"] for job in jobs] == ["done", "done", "cancelled"]
        ids = [row["id"] for row in library.client.get("/v1/documents").json()["documents"]]
        assert ids == ["a.md", "b.md"]
        assert library.client.delete(sent[0].headers["location"]).status_code == 409
        assert Spool(library.store / "jobs").job_ids() == []


def test_a_killed_process_is_started_again_and_takes_every_document_in_once(tmp_path: Path) -> None:
    with open_library(tmp_path, filled=False) as library:
        sent = library.client.post("/v1/documents", files={"file": ("ledger.jsonl", texts(300))})
        location = sent.headers["location"]
        wait_until("a commit", lambda: library.client.get("/v1/collections").json()["collections"])
        killed = workers(library.store)
        for process in killed:
            os.kill(process, signal.SIGKILL)
        job = library.finished(location)
        assert len(killed) == 1
        assert (job["status"], job["summary"]["failed"]) == ("done", 0)
        assert library.client.get("/v1/documents?limit=1").json()["total"] == 300


def test_a_job_that_its_process_dies_of_each_time_is_given_up(tmp_path: Path) -> None:
    queue = JobQueue(Database(tmp_path))
    upload = Upload(files=(StoredFile(label="a.md", id="a.md", name="0.md", size=1),))
    job = queue.add("job-1", "default", upload)
    for _ in range(MOST_ATTEMPTS):
        taken = queue.take()
        assert taken is not None
        queue.take_up_orphans()
    assert queue.take() is None
    found = queue.get(job.id)
    assert found is not None
    assert (found.status, str(MOST_ATTEMPTS) in str(found.error)) == ("failed", True)


def test_a_document_that_was_added_before_the_kill_is_not_called_unchanged_after_it(tmp_path: Path) -> None:
    queue = JobQueue(Database(tmp_path))
    files = tuple(StoredFile(label=name, id=name, name=name, size=1) for name in ("a.md", "b.md"))
    queue.add("job-1", "default", Upload(files=files))
    for attempt in (("added", None), ("unchanged", "added")):
        job = queue.take()
        assert job is not None
        for file, status in zip(files, attempt, strict=True):
            if status is not None:
                queue.record(job, FileRecord(file.source, status, file.id))
        queue.take_up_orphans()
    assert [(record["id"], record["status"]) for record in queue.records(job)] == [("a.md", "added"), ("b.md", "added")]


def test_files_of_a_request_that_was_broken_off_are_removed_after_an_hour(tmp_path: Path) -> None:
    spool = Spool(Database(tmp_path).folder)
    for job_id in ("job-old", "job-new"):
        with Path(__file__).open("rb") as content:
            spool.put(job_id, 0, ".md", content)
    hours_ago = time.time() - 7200
    os.utime(tmp_path / "jobs" / "files" / "job-old", (hours_ago, hours_ago))
    Worker(tmp_path, None).run(idle_seconds=0)
    assert spool.job_ids() == ["job-new"]


def test_jobs_come_page_by_page_the_newest_first(tmp_path: Path) -> None:
    with open_library(tmp_path, filled=False) as library, held_by_a_command(library.store):
        made = [
            library.client.post("/v1/documents", json={"id": f"{number}.md", "text": "x"}).json()["id"]
            for number in range(5)
        ]
        seen: list[str] = []
        query = "?limit=2"
        while query:
            page = library.client.get(f"/v1/jobs{query}").json()
            seen += [job["id"] for job in page["jobs"]]
            query = f"?limit=2&cursor={page['next_cursor']}" if page["next_cursor"] else ""
        assert seen == made[::-1]
        for wrong in ("x", "WzEsIDJd", page_of_documents(library)):
            assert library.client.get(f"/v1/jobs?cursor={wrong}").status_code == 422


def page_of_documents(library: Library) -> str:
    from app.api import cursors

    return cursors.encode("documents", "a.md")


def test_more_uploads_than_may_wait_are_refused(tmp_path: Path) -> None:
    with open_library(tmp_path, filled=False, max_queued_jobs=2) as library, held_by_a_command(library.store):
        sent = [library.client.post("/v1/documents", json={"id": f"{n}.md", "text": "x"}) for n in range(4)]
        codes = [response.status_code for response in sent]
        assert codes[:2] == [202, 202]
        assert codes[-1] == 429
        assert int(sent[-1].headers["retry-after"]) > 0
        assert len(Spool(library.store / "jobs").job_ids()) == codes.count(202)


@pytest.mark.slow
def test_a_deletion_does_not_wait_for_the_end_of_the_queue(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        first = library.client.post("/v1/documents", json={"id": "0.md", "text": "Pier 0 is closed."})
        library.finished(first.headers["location"])
        sent = [
            library.client.post("/v1/documents", json={"id": f"{number}.md", "text": f"Pier {number} is closed."})
            for number in range(1, 12)
        ]
        deleted = library.client.delete("/v1/documents/ferry.md")
        last = library.client.get(sent[-1].headers["location"]).json()
        assert (deleted.status_code, last["status"]) == (200, "queued")


def test_a_deletion_that_finds_the_store_locked_says_when_to_try_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("OPENBOOK_LOCK_WAIT_SECONDS", "0.2")
    with open_library(tmp_path) as library, held_by_a_command(library.store):
        response = library.client.delete("/v1/documents/ferry.md")
        assert (response.status_code, response.json()["type"]) == (503, "urn:openbook:store-locked")
        assert int(response.headers["retry-after"]) > 0
        assert library.client.get("/v1/documents/ferry.md").status_code == 200


def test_a_key_that_only_writes_sees_the_jobs_of_its_collections(tmp_path: Path) -> None:
    keys_file = tmp_path / "keys.json"
    secrets = {
        name: {"authorization": f"Bearer {create_key(keys_file, name, (scope,), collections)[1]}"}
        for name, scope, collections in (
            ("writer", "write", ("ours",)),
            ("other", "write", ("theirs",)),
            ("reader", "read", ("ours",)),
        )
    }
    sent = {"id": "a.md", "text": "The sluice is shut at night.", "collection": "ours"}
    with open_library(tmp_path, filled=False, keys_file=keys_file) as library:
        made = library.client.post("/v1/documents", json=sent, headers=secrets["writer"])
        location = made.headers["location"]
        seen = {name: library.client.get(location, headers=headers).status_code for name, headers in secrets.items()}
        cancelled = library.client.delete(location, headers=secrets["other"]).status_code
        listed = {
            name: len(library.client.get("/v1/jobs", headers=headers).json()["jobs"])
            for name, headers in secrets.items()
        }
        refused = library.client.post("/v1/documents", json=sent, headers=secrets["other"]).status_code
        read = library.client.get("/v1/documents?collection=ours", headers=secrets["writer"]).status_code
    assert seen == {"writer": 200, "other": 404, "reader": 200}
    assert listed == {"writer": 1, "other": 0, "reader": 1}
    assert (cancelled, refused, read) == (404, 403, 403)


@pytest.mark.slow
def test_the_server_answers_while_200_megabytes_are_uploaded_and_read(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        url = str(library.client.base_url)
        line = b"The log of the harbour names every ship that came in.\n"
        head = b'--b\r\ncontent-disposition: form-data; name="file"; filename="large.txt"\r\n\r\n'
        pieces = [head, *([line * 20_000] * (200_000_000 // (len(line) * 20_000))), b"\r\n--b--\r\n"]
        slowest, polled, ended = 0.0, 0, threading.Event()

        def poll() -> None:
            nonlocal slowest, polled
            with httpx.Client(base_url=url, trust_env=False, timeout=30) as client:
                while not ended.wait(0.1):
                    began = time.monotonic()
                    assert client.get("/healthz").status_code == 200
                    slowest, polled = max(slowest, time.monotonic() - began), polled + 1

        thread = threading.Thread(target=poll)
        thread.start()
        try:
            sent = library.client.post(
                "/v1/documents", content=iter(pieces), headers={"content-type": "multipart/form-data; boundary=b"}
            )
            assert sent.status_code == 202, sent.text
            wait_until("it is read", lambda: library.client.get(sent.headers["location"]).json()["status"] == "running")
            time.sleep(10)
        finally:
            ended.set()
            thread.join()
        assert polled > 30
        assert slowest < 1.0, f"/healthz took {slowest:.2f} s"


def test_the_index_of_a_reader_takes_no_deleted_collection_for_the_new_one_of_its_name(tmp_path: Path) -> None:
    with open_library(tmp_path) as library:
        revision = library.client.get("/v1/collections/default").json()["revision"]
        assert library.client.post("/v1/search", json={"question": "Who keeps the lighthouse?"}).json()["passages"]
        gone = library.client.delete("/v1/collections/default")
        assert (gone.status_code, gone.json()["deleted"]) == (200, "default")
        assert library.client.post("/v1/search", json={"question": "lighthouse"}).status_code == 404
        (tmp_path / "new.md").write_text("The new lighthouse of Saltmere is kept by nobody.")
        ingest(library.store, [tmp_path / "new.md"], "default")
        found = library.client.post("/v1/search", json={"question": "lighthouse"}).json()
        assert [passage["document_id"] for passage in found["passages"]] == ["new.md"]
        assert library.client.get("/v1/collections/default").json()["revision"] > revision
    index = Index.open(tmp_path / "store")
    assert index.count_documents("default") == 1
    index.close()


def test_a_damaged_queue_takes_no_uploads_and_keeps_nobody_from_asking(tmp_path: Path) -> None:
    (tmp_path / "store" / "jobs").mkdir(parents=True)
    (tmp_path / "store" / "jobs" / "jobs.db").write_text("no database" * 100)
    with open_library(tmp_path, filled=False) as library:
        response = library.client.post("/v1/documents", json={"id": "a.md", "text": "x"})
        assert (response.status_code, response.json()["type"]) == (503, "urn:openbook:queue-unusable")
        assert "jobs.db" in response.json()["detail"]
        assert library.client.get("/v1/collections").status_code == 200


@contextmanager
def openbook_serve(home: Path) -> Iterator[tuple[subprocess.Popen[bytes], Library]]:
    """Run `openbook serve` in a process of its own, with a small engine."""
    log = home / "serve.log"
    with openai_server() as engine, log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "openbook", "serve", "--port", "0", "--engine-url", engine.url],
            cwd=REPOSITORY,
            env=openbook_environment(home),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            with httpx.Client(base_url=wait_until_ready(process, log), timeout=60, trust_env=False) as client:
                yield process, Library(client, home / "store", engine)
        finally:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_killed_openbook_serve_leaves_no_process_and_the_next_one_takes_the_upload_in(tmp_path: Path) -> None:
    with openbook_serve(tmp_path) as (process, library):
        sent = library.client.post("/v1/documents", files={"file": ("ledger.jsonl", texts(600))})
        location = sent.headers["location"]
        wait_until("it is begun", lambda: library.client.get(location).json()["status"] == "running")
        process.kill()
        wait_until("the process ends with its server", lambda: not workers(library.store))
    with openbook_serve(tmp_path) as (process, library):
        job = library.finished(location)
        assert (job["status"], job["summary"]["failed"]) == ("done", 0)
        assert library.client.get("/v1/documents?limit=1").json()["total"] == 600
        process.terminate()
        assert process.wait(30) == 0
        assert workers(library.store) == []
