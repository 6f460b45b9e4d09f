"""The benchmark of search: vectors like real ones, a store like a real one, and figures that are true."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import openbook
from indexer.benchmarks import search as benchmark
from indexer.benchmarks.embedded import Embedded
from indexer.benchmarks.mixture import Mixture
from indexer.embedding.fingerprint import PROBE_TEXTS, Fingerprint

DIMENSION = 16


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def embedded() -> Embedded:
    """Return passages in 20 narrow groups, and a question near every fourth of them."""
    random = np.random.default_rng(0)
    middles = random.normal(size=(20, DIMENSION))
    passages = unit(np.repeat(middles, 20, axis=0) + 0.2 * random.normal(size=(400, DIMENSION)))
    answers = np.arange(0, 400, 4)
    questions = unit(passages[answers] + 0.2 * random.normal(size=(100, DIMENSION)))
    fingerprint = Fingerprint("drawn", DIMENSION, 64, "", "", passages[: len(PROBE_TEXTS)].tobytes())
    words = tuple("".join(random.choice(list("abcdefgh"), 6)) for _ in range(50_000))
    return Embedded(passages, questions, words, fingerprint, Mixture.fit(passages, questions, answers))


def test_drawn_passages_keep_to_the_groups_of_real_ones(embedded):
    drawn = embedded.mixture.draw(1000, np.random.default_rng(1))
    assert np.linalg.norm(drawn, axis=1) == pytest.approx(np.ones(1000), abs=1e-5)
    nearest = np.sort(drawn @ embedded.passages.T, axis=1)[:, ::-1]
    real = np.sort(embedded.passages @ embedded.passages.T, axis=1)[:, ::-1]
    assert nearest[:, 0].mean() > real[:, 10].mean()
    assert nearest[:, 30].mean() == pytest.approx(real[:, 30].mean(), abs=0.1)


def test_drawn_questions_are_as_far_from_their_passages_as_real_ones(embedded):
    random = np.random.default_rng(2)
    passages = embedded.mixture.draw(2000, random)
    questions = embedded.mixture.draw_questions(passages, random)
    cosines = np.sum(passages * questions, axis=1)
    assert np.quantile(cosines, [0.1, 0.5, 0.9]) == pytest.approx(
        np.quantile(embedded.mixture.cosines, [0.1, 0.5, 0.9]), abs=0.02
    )


def test_the_benchmark_measures_real_stores_of_the_sizes_asked_for(embedded, tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "embed_world", lambda _: embedded)
    monkeypatch.setenv("OPENBOOK_EXACT_VECTORS", "500")
    done = CliRunner().invoke(
        openbook.cli, ["bench", "search", "--sizes", "300,700", "--folder", str(tmp_path), "--json"]
    )
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    small, large = result["sizes"]
    assert (small["chunks"], small["index"], round(small["recall_at_10"], 2)) == (300, "exact vectors", 1)
    assert (large["chunks"], large["index"].split(" ")[0]) == (700, "53")
    assert large["recall_at_10"] >= 0.95
    assert min(small["p50_ms"], large["open_seconds"], large["database_mib"], large["exact_p50_ms"]) > 0
    assert list(tmp_path.iterdir()) == []
    assert len(result["likeness"]["embedded"]) == len(result["likeness"]["probes"])


def test_sizes_that_are_no_numbers_are_refused():
    done = CliRunner().invoke(openbook.cli, ["bench", "search", "--sizes", "many"])
    assert done.exit_code == 2
    assert "whole numbers from 200" in done.output
