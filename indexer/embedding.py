"""The door to sentence-transformers: texts in, unit vectors out.

Any model that sentence-transformers loads will do: the one that is installed with Openbook, a local folder, or a
Hugging Face id. Nothing here knows what a document is.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from indexer.errors import EmbedderError, VectorRefused
from indexer.fingerprint import PROBE_TEXTS, Fingerprint, Vectors
from indexer.gathering import Gatherer
from indexer.settings import PACKAGED_EMBEDDER

BATCH_TOKENS = 4096
"""Tokens of one batch, padding included. Larger ones were no faster on a CPU."""
QUERY_THREADS = 1
"""A question is too short to share, and threads that wait for each other are slow where an engine has the cores:
beside two busy processes on two cores, a question took 185 ms with two threads and 14 ms with one."""
QUERY_BATCH = 32
"""Questions of different threads that are embedded together at most."""
LEAST_LENGTH = 1e-6
"""A vector shorter than this points nowhere."""


class Embedder:
    """An embedding model in memory. Threads may share it; one is served at a time."""

    def __init__(self, name: str, model: Any, threads: int) -> None:
        """Wrap a `SentenceTransformer`; use `Embedder.load`."""
        self.name = name
        self._model = model
        self._threads = threads
        # A fast tokenizer that two threads use at once fails with "Already borrowed".
        self._lock = threading.Lock()
        prompts = model.prompts
        self.query_prefix = str(prompts.get("query") or "")
        self.passage_prefix = str(prompts.get("document") or prompts.get("passage") or "")
        self.dimension = int(model.get_embedding_dimension())
        self.max_tokens = _max_tokens(model)
        special = len(model.tokenizer("")["input_ids"])
        prefix = len(model.tokenizer(self.passage_prefix, add_special_tokens=False)["input_ids"])
        self.passage_tokens = self.max_tokens - special - prefix
        """The longest passage that it reads whole, in its own tokens, special ones and the prefix not counted."""
        self._extra_tokens = special + prefix
        self._gathered = Gatherer(lambda texts: self._encode(texts, self.query_prefix, QUERY_THREADS), QUERY_BATCH)

    @classmethod
    def load(cls, name: str, threads: int | None = None) -> Embedder:
        """Load a model.

        Args:
            name: the packaged one, a local folder or a Hugging Face id.
            threads: how many threads embed passages; None takes every core.

        Raises:
            EmbedderError: there is no such model, or it cannot be loaded.
        """
        folder = _local_folder(name)
        try:
            with _quiet():
                import torch
                from sentence_transformers import SentenceTransformer

                model = SentenceTransformer(str(folder or name), local_files_only=folder is not None)
        except Exception as error:
            raise EmbedderError(
                f"The embedding model {name!r} cannot be loaded: {_first_line(error)} "
                f"Give a local folder, a Hugging Face id, or {PACKAGED_EMBEDDER!r}, which is installed with Openbook."
            ) from error
        return cls(name, model.eval(), threads or torch.get_num_threads())

    def fingerprint(self) -> Fingerprint:
        """Return the identity of the model."""
        return Fingerprint(
            name=self.name,
            dimension=self.dimension,
            max_tokens=self.max_tokens,
            query_prefix=self.query_prefix,
            passage_prefix=self.passage_prefix,
            probes=self.embed_passages(PROBE_TEXTS).tobytes(),
        )

    def embed_query(self, question: str) -> Vectors:
        """Return the unit vector of a question, shape (dimension,).

        Raises:
            VectorRefused: the model gave a vector that is not finite or has no length.
        """
        vector = self._gathered.embed(question)
        if not _has_direction(vector[np.newaxis]).all():
            raise VectorRefused(f"The embedding model {self.name!r} gave a vector without a direction.", (0,))
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the unit vectors of passages, shape (len(texts), dimension), in their order.

        They are embedded in batches of like length, so that little is spent on padding.

        Raises:
            VectorRefused: the model gave a vector that is not finite or has no length.
        """
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for batch in _batches([len(spans) for spans in self.token_spans(texts)], self._extra_tokens):
            vectors[batch] = self._encode([texts[position] for position in batch], self.passage_prefix, self._threads)
        refused = tuple(int(position) for position in np.flatnonzero(~_has_direction(vectors)))
        if refused:
            start = texts[refused[0]][:60]
            raise VectorRefused(
                f"The embedding model {self.name!r} gave a vector without a direction for {start!r}…; "
                "such a text could be found by any question or by none.",
                refused,
            )
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return for each text the character offsets (start, end) of its tokens, special tokens left out."""
        if not texts:
            return []
        with self._lock:
            encoded = self._model.tokenizer(
                list(texts),
                add_special_tokens=False,
                truncation=False,
                padding=False,
                return_offsets_mapping=True,
                return_attention_mask=False,
                verbose=False,
            )
        return [[(int(start), int(end)) for start, end in spans] for spans in encoded["offset_mapping"]]

    def _encode(self, texts: list[str], prefix: str, threads: int) -> Vectors:
        import torch

        with self._lock:
            # Holds for the calling thread alone, so it is said anew each time.
            torch.set_num_threads(threads)
            vectors = self._model.encode(
                texts, prompt=prefix or None, batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True
            )
        return np.asarray(vectors, dtype=np.float32)


def _batches(lengths: Sequence[int], extra: int) -> Iterator[list[int]]:
    """Group positions by length, longest first, so that no batch holds more than `BATCH_TOKENS` with its padding."""
    batch: list[int] = []
    longest = 0
    for position in sorted(range(len(lengths)), key=lambda position: -lengths[position]):
        longest = longest or lengths[position] + extra
        if batch and longest * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch, longest = [], lengths[position] + extra
        batch.append(position)
    if batch:
        yield batch


def _has_direction(vectors: Vectors) -> npt.NDArray[np.bool_]:
    # A length is not finite either where one of its numbers is not.
    lengths = np.linalg.norm(vectors, axis=1)
    return np.asarray(np.isfinite(lengths) & (lengths > LEAST_LENGTH))


def _max_tokens(model: Any) -> int:
    known = [model.max_seq_length, getattr(model.tokenizer, "model_max_length", None)]
    # A tokenizer that knows no limit says so with a number like 1e30.
    return min([int(tokens) for tokens in known if tokens and tokens < 1_000_000] or [512])


def _local_folder(name: str) -> Path | None:
    """Return the folder of the packaged model or of a local one, or None for a Hugging Face id."""
    if name == PACKAGED_EMBEDDER:
        package = importlib.util.find_spec(PACKAGED_EMBEDDER.replace("-", "_"))
        if package is None or not package.submodule_search_locations:
            raise EmbedderError(
                f"The package {PACKAGED_EMBEDDER!r} is not installed. Install it, or choose another model with "
                "--embedder."
            )
        return Path(package.submodule_search_locations[0]) / "model"
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or name.startswith((".", "~")):
        raise EmbedderError(f"There is no folder {name!r} to load an embedding model from.")
    return None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the libraries from drawing bars and printing advice while a model loads."""
    before = os.environ.get("HF_HUB_DISABLE_PROGRESS_BARS")
    # Read once, when the library is imported; not left behind for the processes that this one starts.
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for library in ("sentence_transformers", "transformers", "huggingface_hub"):
                logging.getLogger(library).setLevel(logging.ERROR)
            yield
    finally:
        if before is None:
            del os.environ["HF_HUB_DISABLE_PROGRESS_BARS"]
        else:
            os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = before


def _first_line(error: Exception) -> str:
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return line if line.endswith((".", "!", "?")) else f"{line}."
