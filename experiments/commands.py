"""The commands that a run uses, as a person would type them: ingest, serve, fine-tune.

A run reaches indexer, app and trainer through these processes and over HTTP, never by import.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from experiments.client import Client
from experiments.errors import ServerFailed
from experiments.processes import child_process, last_lines, run_to_end
from terminal import waiting

START_SECONDS = 1800.0
"""After so long a server that is still starting is given up; a large model may take many minutes."""
EXPECTED_START_SECONDS = 50.0


@dataclass(frozen=True)
class Indexing:
    """How documents are indexed; None is the indexer's own default."""

    embedder: str | None = None
    chunk_tokens: int | None = None
    """The longest chunk, in tokens of the embedder."""


class Commands(Protocol):
    """What a run needs done by others."""

    def ingest(self, documents: Path, store: Path, collection: str, indexing: Indexing, log: Path) -> None:
        """Index a JSONL file of documents."""
        ...

    def serve(self, model: str | None, store: Path, embedder: str | None, log: Path) -> AbstractContextManager[Client]:
        """Serve a checkpoint (None: the default base) over a store while the context lasts."""
        ...

    def finetune(self, job: Path, log: Path) -> None:
        """Run a training job."""
        ...


@dataclass(frozen=True)
class OpenbookCommands:
    """The real commands, each a child process."""

    engine_url: str | None = None
    """A running OpenAI-compatible server to use instead of starting vLLM."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that a served child has beside its parent's, such as `OPENBOOK_MAX_IN_FLIGHT`."""

    def ingest(self, documents: Path, store: Path, collection: str, indexing: Indexing, log: Path) -> None:
        """Run `openbook ingest`."""
        options = ["--store", str(store), "--collection", collection, *_option("--embedder", indexing.embedder)]
        options += _option("--chunk-tokens", indexing.chunk_tokens)
        run_to_end(["openbook", "ingest", str(documents), *options], log, f"Ingesting {documents}")

    @contextmanager
    def serve(self, model: str | None, store: Path, embedder: str | None, log: Path) -> Iterator[Client]:
        """Run `openbook serve` on a free port of loopback; entered when it is ready."""
        port = _free_port()
        options = ["--host", "127.0.0.1", "--port", str(port), "--store", str(store)]
        options += (
            _option("--model", model) + _option("--embedder", embedder) + _option("--engine-url", self.engine_url)
        )
        log.parent.mkdir(parents=True, exist_ok=True)
        with (
            log.open("ab") as file,
            child_process(["openbook", "serve", *options], file, file, self.environment) as process,
            Client(f"http://127.0.0.1:{port}") as client,
        ):
            with waiting(f"Starting the server for {model or 'the base model'}", EXPECTED_START_SECONDS):
                _wait_until_ready(process, client, log)
            try:
                yield client
            except ServerFailed as error:
                raise ServerFailed(f"{error}\n{last_lines(log)}\nRun the same command again to continue.") from error

    def finetune(self, job: Path, log: Path) -> None:
        """Run `python -m experiments.finetune`."""
        run_to_end(["experiments.finetune", str(job)], log, "Fine-tuning")


def _option(name: str, value: str | int | None) -> list[str]:
    return [name, str(value)] if value else []


def _wait_until_ready(process: subprocess.Popen[bytes], client: Client, log: Path) -> None:
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        if process.poll() is not None:
            raise ServerFailed(
                f"The server ended while it started (exit code {process.returncode}).\n{last_lines(log)}"
            )
        if client.is_ready():
            return
        time.sleep(0.2)
    raise ServerFailed(f"The server was not ready after {START_SECONDS:.0f} s.\n{last_lines(log)}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
