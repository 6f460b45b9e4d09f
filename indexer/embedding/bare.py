"""What Openbook's embedding is measured against: `SentenceTransformer.encode`, as its documentation calls it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indexer.embedding.batches import batches
from indexer.embedding.embedder import Reading
from indexer.embedding.loading import load_model


class Bare:
    """A model of sentence-transformers by itself."""

    def __init__(self, name: str, dtype: str) -> None:
        """Load the model; `dtype` is `float32` or `bfloat16`."""
        import torch

        self._model = load_model(name).to(getattr(torch, dtype))

    def encode(self, texts: Sequence[str]) -> None:
        """Embed texts with the defaults: in batches of 32."""
        self._model.encode(list(texts), show_progress_bar=False)

    def encode_batches(self, texts: Sequence[str], readings: Sequence[Reading]) -> None:
        """Embed texts in the batches that Openbook makes of them."""
        for batch in batches([len(reading.encoded.ids) for reading in readings]):
            self._model.encode([texts[place] for place in batch], batch_size=len(batch), show_progress_bar=False)


def save_shallow(name: str, folder: Path) -> None:
    """Save a model of the first layer alone: no good for finding, and several times faster."""
    model = load_model(name)
    inner = model[0].auto_model
    inner.encoder.layer = inner.encoder.layer[:1]
    inner.config.num_hidden_layers = 1
    model.save(str(folder), create_model_card=False)
