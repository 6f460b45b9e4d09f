"""`openbook serve` in a process of its own, with the small engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.app.openai_server import OpenAiServer
from tests.conftest import READY, REPOSITORY, openbook_environment
from tests.waiting import wait_for


@contextmanager
def served(home: Path, engine: OpenAiServer, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client]]:
    """Run `openbook serve`, whose stderr is `serve.log` in its home, and return a client for it."""
    command = ["serve", "--port", "0", "--engine-url", engine.url, "--prompt", "passages", *options]
    log = home / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "openbook", *command],
            cwd=REPOSITORY,
            env=openbook_environment(home),
            stdout=output,
            stderr=output,
        )
    try:
        wait_for(lambda: READY.search(log.read_text()) or process.poll() is not None, 120)
        ready = READY.search(log.read_text())
        assert ready, log.read_text()
        with httpx.Client(base_url=ready[1], timeout=30, trust_env=False) as api:
            yield process, api
    finally:
        process.kill()
        process.wait()
