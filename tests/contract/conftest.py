"""A running app with something behind every path of the REST API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.access.keyring import create_key
from tests.app.library import Library, open_library
from tests.app.openai_server import MODEL

RUN = "demo-0123456789ab"
CARD = {"name": "small", "version": "1", "created": "2026-01-01T00:00:00Z", "weights_hash": "0" * 64}


def fill_home(home: Path) -> None:
    """Write a checkpoint, a finished run, one that is not, and two that are damaged."""
    checkpoint = home / "checkpoints" / MODEL
    checkpoint.mkdir(parents=True)
    (checkpoint / "checkpoint.json").write_text(json.dumps(CARD))
    results = {"experiment": "demo", "created": "2026-01-01T00:00:00Z", "verdict": "rag is better.", "arms": {}}
    runs = {RUN: json.dumps(results), "half-1": None, "broken-1": "{", "odd-1": '{"created": [1]}'}
    for name, content in runs.items():
        folder = home / "runs" / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text("{}")
        if content is not None:
            (folder / "results.json").write_text(content)
    (home / "runs" / RUN / "report.html").write_text("<!doctype html><title>demo</title><script>alert(1)</script>")
    (home / "runs" / RUN / "report.md").write_text("# demo\n")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("contract")
    fill_home(folder / "home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENBOOK_HOME", str(folder / "home"))
        # A generated deletion meets the process that takes generated uploads in.
        environment.setenv("OPENBOOK_LOCK_WAIT_SECONDS", "0.5")
        _, secret = create_key(folder / "keys.json", "generated", ("admin",))
        with open_library(folder, keys_file=folder / "keys.json") as opened:
            opened.client.headers["authorization"] = f"Bearer {secret}"
            yield opened
