"""An experiment on real parts: `openbook experiment run` against the running vLLM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

SPEC = """\
name: island
corpus: {world: {seed: 7, documents: 14}}
questions: {limit: 8}
concurrency: 4
primary: {a: rag, b: closed_book}
arms:
  closed_book: {retriever: none}
  rag: {retriever: dense, top_k: 2}
  oracle: {retriever: oracle}
"""


def test_an_experiment_runs_and_a_second_run_only_scores(server, tmp_path: Path):
    spec, runs = tmp_path / "island.yaml", tmp_path / "runs"
    spec.write_text(SPEC, encoding="utf-8")
    first = run(spec, runs, server.engine_url)
    folder = next(path for path in runs.iterdir() if path.is_dir())
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert {name: arm["scored"] for name, arm in results["arms"].items()} == {"closed_book": 8, "rag": 8, "oracle": 8}
    assert results["arms"]["closed_book"]["metrics"]["contains_answer"]["value"] < 0.5
    assert results["arms"]["oracle"]["metrics"]["retrieval_recall"]["value"] == 1
    assert all(gate["passed"] for gate in results["gates"]), results["gates"]
    assert (folder / "report.html").exists()

    answers = (folder / "answers.jsonl").read_bytes()
    assert run(spec, runs, server.engine_url).stdout == first.stdout
    assert (folder / "answers.jsonl").read_bytes() == answers


def run(spec: Path, runs: Path, engine_url: str) -> subprocess.CompletedProcess[str]:
    command = ["experiment", "run", str(spec), "--runs", str(runs), "--engine-url", engine_url]
    done = subprocess.run([sys.executable, "-m", "openbook", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done
