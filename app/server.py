"""`openbook serve` from beginning to end: address, store, model, engine, API, and the end of them all.

Everything that can be wrong is looked at before the engine, which takes half a minute, is started. However the server
ends, the engine ends with it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

import uvicorn

import terminal
from app.base_checkpoint import ensure_base_checkpoint
from app.checkpoints import Model, resolve
from app.engine import Engine, ServedModel
from app.errors import ModelNotFound, OpenHost, PortInUse
from app.main import create_app
from app.serving.command import EngineOptions, bounded_model_len
from app.serving.engine_process import EngineProcess, free_port
from app.serving.supervisor import Supervisor
from app.settings import Settings
from corpus.home import checkpoints_home, logs_home
from indexer.index import Index

SHUTDOWN_SECONDS = 5
EMBEDDER_SECONDS = 6.0


@dataclass(frozen=True)
class RunningEngine:
    """An engine that answers, and what it serves, the default model first."""

    url: str
    served: tuple[ServedModel, ...]
    supervisor: Supervisor | None

    def problem(self) -> str | None:
        """Say why it cannot answer; None where nothing is known against it."""
        return self.supervisor.problem if self.supervisor else None


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        OpenHost, PortInUse, ModelNotFound: The settings ask for what cannot be done.
        EngineFailed, EngineUnreachable: There is no engine to serve with.
        indexer.errors.StoreError, indexer.errors.EmbedderError: The store or its embedding model cannot be used.
    """
    signal.signal(signal.SIGTERM, _exit_quietly)
    # The engine has the cores; embedding one question gains nothing from more threads and would take them away.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    _refuse_open_host(settings)
    listener = listen(settings.host, settings.port)
    index = Index.open(settings.store, settings.embedder)
    try:
        with terminal.waiting("Loading the embedding model", EMBEDDER_SECONDS):
            index.warm_up()
        with running_engine(settings) as engine:
            app = create_app(settings, index, engine.url, engine.served, engine.problem)
            _run(app, listener, _greeting(settings, listener, engine, index))
    finally:
        index.close()
        listener.close()


def listen(host: str, port: int) -> socket.socket:
    """Take the address, so that nobody else can while the engine starts.

    Raises:
        PortInUse: Another program has the port.
        OpenHost: The host is no address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if isinstance(error, socket.gaierror) or error.errno is None:
            raise OpenHost(f"--host {host!r} is no address of this machine: {error}.") from error
        raise PortInUse(
            f"{host}:{port} cannot be used: {os.strerror(error.errno)}. Another `openbook serve` may run already; "
            "choose another port with --port."
        ) from error
    return listener


@contextmanager
def running_engine(settings: Settings) -> Iterator[RunningEngine]:
    """Give an engine that answers: the one at `engine_url`, or a vLLM that ends with the context."""
    if settings.engine_url:
        engine_url = settings.engine_url.rstrip("/").removesuffix("/v1")
        yield RunningEngine(engine_url, _default_first(_models_at(engine_url), settings.model), None)
        return
    model = _model(settings)
    port = settings.engine_port or free_port()
    options = EngineOptions(port, settings.max_model_len, settings.kv_cache_gib, settings.compile_model)
    supervisor = Supervisor(lambda: EngineProcess(model, options, _log_path(model, port)))
    try:
        with terminal.waiting(f"Starting vLLM with {model.label}", options.expected_seconds):
            url = supervisor.start()
        served = ServedModel(model.label, model.location, bounded_model_len(model, settings.max_model_len))
        yield RunningEngine(url, (served,), supervisor)
    finally:
        supervisor.stop()


def _model(settings: Settings) -> Model:
    registry = checkpoints_home()
    if settings.model is None:
        return resolve(str(ensure_base_checkpoint(registry)), registry)
    return resolve(settings.model, registry)


def _log_path(model: Model, port: int) -> Path:
    """Return a log file of its own for each start."""
    label = model.label.replace("/", "--")
    return logs_home() / f"vllm-{label}-{port}-{time.strftime('%Y%m%d-%H%M%S')}.log"


def _models_at(engine_url: str) -> tuple[ServedModel, ...]:
    async def ask() -> tuple[ServedModel, ...]:
        engine = Engine(engine_url, timeout_s=10.0, connections=1)
        try:
            return await engine.models()
        finally:
            await engine.close()

    return asyncio.run(ask())


def _default_first(served: Sequence[ServedModel], wanted: str | None) -> tuple[ServedModel, ...]:
    """Put the wanted model first.

    Raises:
        ModelNotFound: The engine does not serve it.
    """
    names = [model.name for model in served]
    if wanted is not None and wanted not in names:
        hint = terminal.did_you_mean(wanted, names)
        raise ModelNotFound(f"The engine does not serve {wanted!r}.{hint} It serves: {', '.join(names)}.")
    return tuple(sorted(served, key=lambda model: model.name != (wanted or names[0])))


def _refuse_open_host(settings: Settings) -> None:
    try:
        is_loopback = settings.host == "localhost" or ipaddress.ip_address(settings.host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback and not settings.insecure:
        raise OpenHost(
            f"--host {settings.host} can be reached from other machines, and the API asks nobody who they are. "
            "Put a proxy with authentication before 127.0.0.1, or add --insecure if the network is yours alone."
        )


def _greeting(settings: Settings, listener: socket.socket, engine: RunningEngine, index: Index) -> str:
    host, port = listener.getsockname()[:2]
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"Serving {engine.served[0].name} from {engine.url} over the documents in {settings.store}."]
    collections = index.collections()
    if not collections:
        lines.append("The store is empty. Add documents in another terminal: openbook ingest PATH")
    lines.append(f"Ready: http://{address}")
    return "\n".join(lines)


def _run(app: object, listener: socket.socket, greeting: str) -> None:
    config = uvicorn.Config(
        app,  # type: ignore[arg-type] # uvicorn's own ASGI types differ from Starlette's
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    _Server(config, greeting).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that says when it takes requests."""

    def __init__(self, config: uvicorn.Config, greeting: str) -> None:
        super().__init__(config)
        self._greeting = greeting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        terminal.note(self._greeting)


def _exit_quietly(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)
