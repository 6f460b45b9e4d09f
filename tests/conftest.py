"""The one real server that the tests share: vLLM takes half a minute to start, so it starts once for the whole run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from hypothesis import settings

from app.base_checkpoint import LABEL, ensure_base_checkpoint

# An example takes longer on a busy machine, which says nothing about the code.
settings.register_profile("openbook", deadline=None)
settings.load_profile("openbook")

REPOSITORY = Path(__file__).parent.parent
SALTMERE = REPOSITORY / "tests" / "data" / "saltmere"
READY = re.compile(r"Ready: (http://[\w.:\[\]]+)")
START_SECONDS = 400.0


@dataclass(frozen=True)
class RunningServer:
    """A running `openbook serve` with the base checkpoint and the documents of Saltmere."""

    url: str
    engine_url: str
    store: Path
    home: Path
    process: subprocess.Popen[bytes]


def openbook_environment(home: Path) -> dict[str, str]:
    """Return the environment of a command that keeps its state in `home` alone."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OPENBOOK_")}
    return {**inherited, "OPENBOOK_HOME": str(home), "PYTHONUNBUFFERED": "1"}


def run_openbook(home: Path, *arguments: str, timeout_s: float = 120.0) -> subprocess.CompletedProcess[str]:
    """Run `openbook` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "openbook", *arguments],
        cwd=REPOSITORY,
        env=openbook_environment(home),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


@pytest.fixture(scope="session")
def base_checkpoint() -> Path:
    """Return the base checkpoint, which is made once for all test runs."""
    return ensure_base_checkpoint(REPOSITORY / ".openbook" / "checkpoints")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, base_checkpoint: Path) -> Iterator[RunningServer]:
    """Start `openbook serve` on a free port, and end it with the session."""
    home = tmp_path_factory.mktemp("openbook-home")
    furnish(home, base_checkpoint)
    with serving(home) as running:
        yield running


def furnish(home: Path, base_checkpoint: Path) -> None:
    """Put the base checkpoint and the documents of Saltmere into a home."""
    (home / "checkpoints").mkdir()
    (home / "checkpoints" / LABEL).symlink_to(base_checkpoint)
    ingested = run_openbook(home, "ingest", str(SALTMERE))
    assert ingested.returncode == 0, ingested.stderr


@contextmanager
def serving(home: Path, *options: str) -> Iterator[RunningServer]:
    """Run `openbook serve` on a free port with further options, until the block is left."""
    log = home / "serve.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "openbook", "serve", "--port", "0", *options],
            cwd=REPOSITORY,
            env=openbook_environment(home),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        url = wait_until_ready(process, log)
        readiness = httpx.get(f"{url}/readyz", trust_env=False).raise_for_status().json()
        yield RunningServer(url, readiness["engine_url"], home / "store", home, process)
    finally:
        process.terminate()
        process.wait(60)


def wait_until_ready(process: subprocess.Popen[bytes], log: Path) -> str:
    """Return the URL that a starting server prints when it is ready."""
    deadline = time.monotonic() + START_SECONDS
    while (found := READY.search(log.read_text())) is None:
        assert process.poll() is None, f"openbook serve ended with {process.returncode}:\n{log.read_text()}"
        assert time.monotonic() < deadline, f"openbook serve is not ready:\n{log.read_text()}"
        time.sleep(0.2)
    return found[1]
