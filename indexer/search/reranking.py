"""The other door to sentence-transformers: cross-encoders, which read question and passage together and score them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexer.errors import RerankerError

BATCH = 16


class Reranker:
    """A cross-encoder in memory. Threads may share it; one is served at a time."""

    def __init__(self, name: str, model: Any) -> None:
        """Wrap a `CrossEncoder`; use `Reranker.load`."""
        self.name = name
        self._model = model
        # A fast tokenizer that two threads use at once fails with "Already borrowed".
        self._lock = threading.Lock()

    @classmethod
    def load(cls, name: str) -> Reranker:
        """Load a model from a local folder or by its Hugging Face id.

        Raises:
            RerankerError: there is no such model, or it does not give one score for a pair.
        """
        path = Path(name).expanduser()
        if not path.is_dir() and (path.is_absolute() or name.startswith((".", "~"))):
            raise RerankerError(f"There is no folder {name!r} to load a cross-encoder from.")
        try:
            from indexer.embedding.loading import quiet

            with quiet():
                from sentence_transformers import CrossEncoder

                model = CrossEncoder(str(path) if path.is_dir() else name, local_files_only=path.is_dir())
        except Exception as error:
            line = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise RerankerError(
                f"The cross-encoder {name!r} cannot be loaded: {line} Give a local folder or a Hugging Face id, "
                "such as cross-encoder/ms-marco-MiniLM-L6-v2."
            ) from error
        if model.num_labels != 1:
            raise RerankerError(
                f"The model {name!r} gives {model.num_labels} scores for a question and a passage; a cross-encoder "
                "that ranks gives one."
            )
        return cls(name, model)

    def score(self, question: str, passages: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return how well each passage answers the question, more is better, shape (len(passages),).

        Raises:
            RerankerError: a score is not finite.
        """
        with self._lock:
            scores = self._model.predict(
                [(question, passage) for passage in passages], batch_size=BATCH, show_progress_bar=False
            )
        scores = np.asarray(scores, dtype=np.float32).reshape(len(passages))
        if not np.isfinite(scores).all():
            raise RerankerError(f"The cross-encoder {self.name!r} gave a score that is no number; use another one.")
        return scores


class Rerankers:
    """Cross-encoders by name, each loaded when it is first needed. Threads may share it."""

    def __init__(self) -> None:
        """Load nothing yet."""
        self._loaded: dict[str, Reranker] = {}
        self._lock = threading.Lock()

    def load(self, name: str) -> Reranker:
        """Return a model, raising as `Reranker.load` does."""
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = Reranker.load(name)
            return self._loaded[name]
