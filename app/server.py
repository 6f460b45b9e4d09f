"""`openbook serve` from beginning to end: address, store, model, engine, API, and the end of them all.

Everything that can be wrong is looked at before the engine is started. The API listens while the engine starts, half a
minute long: `/healthz` is well and `/readyz` says why not yet. After SIGTERM nothing new is taken, what is under way is
finished, and the engine ends last. However the server ends, the engine ends with it.
"""

from __future__ import annotations

import ipaddress
import signal
import socket
import sys
from types import FrameType
from typing import NoReturn

import terminal
from app.access.live_keys import LiveKeys
from app.errors import OpenHost, PortInUse
from app.flow.drain import Drain
from app.flow.draining_server import DrainingServer
from app.logs import configure as configure_logs
from app.main import create_app
from app.pools import Pool
from app.serving.backend import Backend, choose_backend
from app.settings import Settings
from indexer.index import Index

SHUTDOWN_SECONDS = 5
EMBEDDER_SECONDS = 6.0


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        KeysDamaged: The API keys cannot be read.
        OpenHost, PortInUse, ModelNotFound: The settings ask for what cannot be done.
        EngineFailed, EngineUnreachable: There is no engine to serve with.
        indexer.errors.StoreError, indexer.errors.EmbedderError: The store or its embedding model cannot be used.
    """
    configure_logs(settings.log_format, settings.log_level)
    _refuse_open_host(settings, LiveKeys(settings.keys_file))
    listener = listen(settings.host, settings.port)
    signal.signal(signal.SIGTERM, _exit_quietly)
    try:
        index = Index.open(settings.store, settings.embedder)
        try:
            _serve(settings, listener, index, choose_backend(settings))
        finally:
            index.close()
    finally:
        listener.close()


def listen(host: str, port: int) -> socket.socket:
    """Take the address, so that nobody else can while the store and the model are loaded.

    Raises:
        PortInUse: Another program has the port, or it cannot be had.
        OpenHost: The host is no address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Two sockets may be bound to one port with SO_REUSEADDR, but only one may listen.
        listener.listen()
    except socket.gaierror as error:
        listener.close()
        raise OpenHost(f"--host {host!r} is no address of this machine: {error.strerror}.") from error
    except OSError as error:
        listener.close()
        raise PortInUse(
            f"{host}:{port} cannot be used: {error.strerror}. Another `openbook serve` may run already; choose another "
            "port with --port."
        ) from error
    return listener


def _serve(settings: Settings, listener: socket.socket, index: Index, backend: Backend) -> None:
    drain = Drain(settings.drain_seconds)
    app = create_app(settings, index, backend.pools, drain=drain, backend=backend)
    with terminal.waiting("Loading the embedding model", EMBEDDER_SECONDS):
        index.warm_up()
    server = DrainingServer(app, drain, SHUTDOWN_SECONDS)

    def greet() -> None:
        terminal.note(_greeting(settings, listener, backend, index))

    def stop() -> None:
        server.should_exit = True

    with backend.running(greet, stop):
        server.run(sockets=[listener])


def _refuse_open_host(settings: Settings, keys: LiveKeys) -> None:
    try:
        is_loopback = settings.host == "localhost" or ipaddress.ip_address(settings.host).is_loopback
    except ValueError:
        is_loopback = False
    if is_loopback or keys.guarded:
        return
    if not settings.insecure:
        raise OpenHost(
            f"--host {settings.host} can be reached from other machines, and without API keys the server asks nobody "
            "who they are. Make one with `openbook keys create NAME`, or add --insecure if the network is yours alone."
        )
    terminal.note(f"No API keys: whoever can reach {settings.host} can read every document.")


def _greeting(settings: Settings, listener: socket.socket, backend: Backend, index: Index) -> str:
    host, port = listener.getsockname()[:2]
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"Serving {_served(pool)} over the documents in {settings.store}." for pool in backend.pools[:1]]
    lines += [f"Also serving {_served(pool)}." for pool in backend.pools[1:]]
    if not index.collections():
        lines.append("The store is empty. Add documents in another terminal: openbook ingest PATH")
    lines.append(f"Ready: http://{address}")
    return "\n".join(lines)


def _served(pool: Pool) -> str:
    return f"{', '.join(model.name for model in pool.served)} from {pool.engine.url}"


def _exit_quietly(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)
