"""A running app over a store of its own, into which documents may be uploaded."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from app.main import create_app
from app.settings import Settings
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from tests.app.conftest import pool, running
from tests.app.openai_server import OpenAiServer, openai_server
from tests.conftest import SALTMERE

FINISHED = ("done", "failed", "cancelled")
LONGEST_JOB_S = 120.0


@dataclass(frozen=True)
class Library:
    """A running app, its store, and its engine."""

    client: httpx.Client
    store: Path
    engine: OpenAiServer

    def upload(self, id_: str, text: str, **fields: Any) -> dict[str, Any]:
        """Upload a text and return the finished job."""
        response = self.client.post("/v1/documents", json={"id": id_, "text": text, **fields})
        assert response.status_code == 202, response.text
        return self.finished(response.headers["location"])

    def upload_files(self, files: dict[str, bytes], **fields: str) -> dict[str, Any]:
        """Upload files by their names and return the finished job."""
        sent = [("file", (name, content)) for name, content in files.items()]
        response = self.client.post("/v1/documents", files=sent, data=fields)
        assert response.status_code == 202, response.text
        return self.finished(response.headers["location"])

    def finished(self, location: str) -> dict[str, Any]:
        """Wait for the end of a job and return it."""
        end = time.monotonic() + LONGEST_JOB_S
        while (job := self.client.get(location).raise_for_status().json())["status"] not in FINISHED:
            assert time.monotonic() < end, f"the job does not end: {job}"
            time.sleep(0.05)
        return dict(job)

    def found(self, question: str, collection: str = "default") -> list[str]:
        """Return the texts of the passages that an answer rests on."""
        asked = {"question": question, "collection": collection, "retriever": "lexical"}
        response = self.client.post("/v1/prompts", json=asked)
        return [passage["text"] for passage in response.raise_for_status().json()["passages"]]


@cache
def _saltmere_store() -> Path:
    """Return a store of the documents of Saltmere, made once for all tests."""
    folder = tempfile.TemporaryDirectory(prefix="saltmere-")
    atexit.register(folder.cleanup)
    store = Path(folder.name) / "store"
    ingest(store, [SALTMERE], "default")
    return store


@contextmanager
def open_library(folder: Path, *, filled: bool = True, **settings: object) -> Iterator[Library]:
    """Run an app over the store `folder/store`, filled with the documents of Saltmere or as it is."""
    store = folder / "store"
    if filled:
        shutil.copytree(_saltmere_store(), store)
    index = Index.open(store)
    with openai_server() as engine:
        chosen = {"store": store, "engine_url": engine.url, "prompt": "passages", **settings}
        app = create_app(Settings.model_validate(chosen), index, [pool(engine.url)])
        with running(app) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
            yield Library(client, store, engine)
    index.close()
