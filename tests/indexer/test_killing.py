"""Whatever instant a writer is killed at, what it had committed is there, whole, and a rerun does the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.index import Index
from indexer.ingest import ingest

ROOT = Path(__file__).parents[2]


def killed(store: Path, folder: Path, model: Path, kills: int) -> list[dict]:
    command = [sys.executable, "-m", "tests.indexer.killing", str(store), str(folder), str(model), str(kills)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert finished.returncode == 0, finished.stderr
    return [json.loads(line) for line in finished.stdout.splitlines()]


def check(store: Path, settings, tmp_path: Path, tiny_path: Path, kills: int) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    names = sorted(f"d{number:02}.md" for number in range(50))
    for name in names:
        (folder / name).write_text(f"text of {name} " * 8)
    held: list[str] = []
    results = killed(store, folder, tiny_path, kills)
    for result in results:
        assert set(held) <= set(result["held"]) <= set(names), "a committed document is gone"
        assert result["found"] == result["held"], "a document is held but not found, or found but not held"
        held = result["held"]
    assert any(result["killed"] for result in results)
    summary = ingest(store, [folder], "default", settings=settings)
    assert (summary.added, summary.unchanged) == (50 - len(held), len(held))
    index = Index.open(store, settings=settings)
    assert [row.id for row in index.documents("default")] == names
    assert sorted({hit.document_id for hit in index.search("default", "text", 1000).hits}) == names
    index.close()


def test_twenty_kills_of_an_ingest_lose_and_invent_nothing(store, settings, tmp_path, tiny_path):
    check(store, settings, tmp_path, tiny_path, kills=20)


@pytest.mark.slow
def test_two_hundred_kills_of_an_ingest_lose_and_invent_nothing(store, settings, tmp_path, tiny_path):
    check(store, settings, tmp_path, tiny_path, kills=200)
