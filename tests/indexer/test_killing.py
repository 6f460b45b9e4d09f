"""Whatever instant a writer is killed at, what it had committed is there, whole, and a rerun does the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def check(store: Path, tmp_path: Path, tiny_path: Path, kills: int) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    names = sorted(f"d{number:02}.md" for number in range(50))
    for name in names:
        (folder / name).write_text(f"text of {name} " * 8)
    command = [sys.executable, "-m", "tests.indexer.killing", str(store), str(folder), str(tiny_path), str(kills)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=590)
    assert finished.returncode == 0, finished.stderr
    results = [json.loads(line) for line in finished.stdout.splitlines()]
    held: list[str] = names
    for result in results:
        assert set(held) <= set(result["held"]) <= set(names), "a committed document is gone"
        assert result["found"] == result["held"], "a document is held but not found, or found but not held"
        assert [said for said in result["wrong"] if said.startswith("fail")] == []
        held = result["held"]
        if result["event"] == "finished":
            assert (result["held"], result["wrong"]) == (names, [])
            held = []
    events = [result["event"] for result in results]
    assert events.count("killed") + events.count("too late") == kills
    partly = [len(result["held"]) for result in results if result["event"] == "killed"]
    if kills > 20:
        assert len({count for count in partly if 0 < count < 50}) > 5, "the kills did not come in the middle"


def test_five_kills_of_an_ingest_lose_and_invent_nothing(store, tmp_path, tiny_path):
    check(store, tmp_path, tiny_path, kills=5)


@pytest.mark.slow
def test_two_hundred_kills_of_an_ingest_lose_and_invent_nothing(store, tmp_path, tiny_path):
    check(store, tmp_path, tiny_path, kills=200)
