"""The app over real HTTP, with the documents of Saltmere and a small engine that does as it is told."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from app.engine import Engine, ServedModel
from app.main import create_app
from app.pools import Pool, nothing_known
from app.settings import Settings
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from tests.app.openai_server import MODEL, OpenAiServer, openai_server
from tests.conftest import SALTMERE

Serve = Callable[..., httpx.Client]


@pytest.fixture(scope="session")
def saltmere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Return an index of the documents of Saltmere."""
    store = tmp_path_factory.mktemp("saltmere") / "store"
    ingest(store, [SALTMERE], "default")
    index = Index.open(store)
    index.warm_up()
    yield index
    index.close()


@pytest.fixture
def engine() -> Iterator[OpenAiServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def serve(saltmere: Index, engine: OpenAiServer, tmp_path: Path) -> Iterator[Serve]:
    """Return a function that runs the app with the given settings and returns a client for it."""
    with ExitStack() as stack:

        def start(
            engine_problem: Callable[[], str | None] = nothing_known,
            served: tuple[ServedModel, ...] = (ServedModel(MODEL, None, 512),),
            **settings: object,
        ) -> httpx.Client:
            all_settings = Settings.model_validate(
                {"store": tmp_path, "engine_url": engine.url, "prompt": "passages", **settings}
            )
            app = create_app(all_settings, saltmere, [pool(engine.url, served, engine_problem)])
            url = stack.enter_context(running(app))
            return stack.enter_context(httpx.Client(base_url=url, timeout=20, trust_env=False))

        yield start


@pytest.fixture
def api(serve: Serve) -> httpx.Client:
    """Return a client of an app with the default settings."""
    return serve()


def pool(
    url: str,
    served: tuple[ServedModel, ...] = (ServedModel(MODEL, None, 512),),
    problem: Callable[[], str | None] = nothing_known,
) -> Pool:
    """Return the pool of an engine that runs already."""
    return Pool(served[0].name, Engine(url, timeout_s=120, connections=68), served, problem)


@contextmanager
def running(app: FastAPI) -> Iterator[str]:
    """Run an app on a free loopback port and give its URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
