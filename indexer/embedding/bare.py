"""What Openbook's embedding is measured against: `SentenceTransformer.encode`, as its documentation calls it.

It runs in a process of its own, `python -m indexer.embedding.bare NAME DTYPE`, so that nothing that Openbook sets up
for itself helps or hinders it. Every line of its input is a JSON list of batches of texts; it answers with the seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from indexer.embedding.batches import batches
from indexer.embedding.embedder import Reading
from indexer.embedding.loading import load_model

DEFAULT_BATCH = 32


class Bare:
    """A model of sentence-transformers by itself."""

    def __init__(self, name: str, dtype: str) -> None:
        """Load the model; `dtype` is `float32` or `bfloat16`."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "indexer.embedding.bare", name, dtype],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def encode(self, texts: Sequence[str]) -> float:
        """Embed texts with the defaults, in batches of 32, and return the seconds."""
        return self._seconds([list(texts)])

    def encode_batches(self, texts: Sequence[str], readings: Sequence[Reading]) -> float:
        """Embed texts in the batches that Openbook makes of them, and return the seconds."""
        grouped = batches([len(reading.encoded.ids) for reading in readings])
        return self._seconds([[texts[place] for place in batch] for batch in grouped])

    def _seconds(self, grouped: list[list[str]]) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(grouped) + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


def save_shallow(name: str, folder: Path) -> None:
    """Save a model of the first layer alone: no good for finding, and several times faster."""
    model = load_model(name)
    inner = model[0].auto_model
    inner.encoder.layer = inner.encoder.layer[:1]
    inner.config.num_hidden_layers = 1
    model.save(str(folder), create_model_card=False)


def _serve(name: str, dtype: str, lines: IO[str], answers: IO[str]) -> None:
    import torch

    model = load_model(name).to(getattr(torch, dtype))
    for line in lines:
        grouped: list[list[str]] = json.loads(line)
        started = time.perf_counter()
        for texts in grouped:
            batch_size = DEFAULT_BATCH if len(grouped) == 1 else len(texts)
            model.encode(texts, batch_size=batch_size, show_progress_bar=False)
        answers.write(f"{time.perf_counter() - started}\n")
        answers.flush()


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], sys.stdin, sys.stdout)
