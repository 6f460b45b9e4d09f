"""What Openbook's embedding is measured against: `SentenceTransformer.encode`, as its documentation calls it.

It runs in a process of its own, `python -m indexer.embedding.bare NAME DTYPE`, so that nothing that Openbook sets up
for itself helps or hinders it. Every line of its input is a JSON list of batches of texts; it answers with the
seconds that passed and those of the processor.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from indexer.embedding.batches import batches
from indexer.embedding.embedder import Reading
from indexer.embedding.loading import load_model

DEFAULT_BATCH = 32


@dataclass(frozen=True)
class Time:
    """What something took, in seconds."""

    seconds: float
    processor: float
    """Of all cores together; a machine that is busy with something else changes it little."""


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

    def encode(self, texts: Sequence[str]) -> Time:
        """Embed texts with the defaults, in batches of 32."""
        return self._timed([list(texts)])

    def encode_batches(self, texts: Sequence[str], readings: Sequence[Reading]) -> Time:
        """Embed texts in the batches that Openbook makes of them."""
        grouped = batches([len(reading.encoded.ids) for reading in readings])
        return self._timed([[texts[place] for place in batch] for batch in grouped])

    def _timed(self, grouped: list[list[str]]) -> Time:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(grouped) + "\n")
        self._process.stdin.flush()
        return Time(*json.loads(self._process.stdout.readline()))


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
        started, processor = time.perf_counter(), time.process_time()
        for texts in grouped:
            batch_size = DEFAULT_BATCH if len(grouped) == 1 else len(texts)
            model.encode(texts, batch_size=batch_size, show_progress_bar=False)
        answers.write(json.dumps([time.perf_counter() - started, time.process_time() - processor]) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], sys.stdin, sys.stdout)
