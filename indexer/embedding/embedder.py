"""An embedding model in memory: texts in, unit vectors out.

Any model that sentence-transformers loads and whose tokenizer is a fast one will do: the one that is installed with
Openbook, a local folder, or a Hugging Face id. Nothing here knows what a document is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from indexer.embedding.batches import batches
from indexer.embedding.fingerprint import PROBE_TEXTS, Fingerprint, Vectors
from indexer.embedding.gathering import Gatherer
from indexer.embedding.loading import load_model
from indexer.embedding.processes import EmbeddingProcesses
from indexer.errors import EmbedderError, VectorRefused
from indexer.memory import keep_freed_memory
from indexer.settings import EmbedderDtype

if TYPE_CHECKING:
    from indexer.embedding.inference import Encoded

QUERY_THREADS = 1
"""A question is too short to share, and threads that wait for each other are slow where an engine has the cores:
beside two busy processes on two cores, a question took 185 ms with two threads and 14 ms with one."""
QUERY_BATCH = 32
"""Questions of different threads that are embedded together at most."""
ROUNDED_COSINE = 0.995
"""The least cosine between a vector in bfloat16 and in float32 for bfloat16 to be used."""
LEAST_LENGTH = 1e-6
"""A vector shorter than this points nowhere."""
SHOWN_CHARACTERS = 60


@dataclass(frozen=True)
class Reading:
    """A passage as the model reads it."""

    start: str
    """The beginning of its text, to be named by."""
    tokens: int
    """How many tokens the text has, special ones and the prefix not counted."""
    encoded: Encoded


class Embedder:
    """An embedding model in memory. Threads may share it."""

    def __init__(self, name: str, model: Any, threads: int, dtype: EmbedderDtype, processes: int = 1) -> None:
        """Wrap a `SentenceTransformer`; use `Embedder.load`."""
        from indexer.embedding.inference import Inference

        self.name = name
        self._model = model
        self._threads = threads
        self._inference = Inference(model)
        prompts = model.prompts
        self.query_prefix = str(prompts.get("query") or "")
        self.passage_prefix = str(prompts.get("document") or prompts.get("passage") or "")
        self.dimension = int(model.get_embedding_dimension())
        self.max_tokens = self._inference.max_tokens
        special = self._inference.tokens("", special=True)
        self._extra_tokens = special + self._inference.tokens(self.passage_prefix, special=False)
        self.passage_tokens = self.max_tokens - self._extra_tokens
        """The longest passage that it reads whole, in its own tokens, special ones and the prefix not counted."""
        self.dtype = "float32"
        """In what its layers multiply: `float32` or `bfloat16`."""
        self._use(dtype)
        self._processes = EmbeddingProcesses(processes, max(1, threads // processes), name, dtype)
        self._gathered = Gatherer(self._embed_queries, QUERY_BATCH)
        self._question_vector: Callable[[str], Vectors] = self._embed_question

    @classmethod
    def load(cls, name: str, threads: int | None = None, dtype: EmbedderDtype = "auto", processes: int = 1) -> Embedder:
        """Load a model.

        Args:
            name: the packaged one, a local folder or a Hugging Face id.
            threads: how many threads embed passages; None takes every core.
            dtype: in what its layers multiply; `auto` is bfloat16 where the processor has units for it.
            processes: how many processes embed many passages, sharing the threads; 1 is this one alone.

        Raises:
            EmbedderError: there is no such model, it cannot be loaded, or it reads something else than text.
        """
        model = load_model(name)
        import torch

        try:
            return cls(name, model, threads or torch.get_num_threads(), dtype, processes)
        except TypeError as error:
            raise EmbedderError(
                f"The embedding model {name!r} cannot be used: {error}. Choose one that reads text, with --embedder."
            ) from error

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
        """Return the unit vector of a question, shape (dimension,), which must not be written to.

        Raises:
            VectorRefused: the model gave a vector that is not finite or has no length.
        """
        return self._question_vector(question)

    def keep_question_vectors(self, count: int) -> None:
        """Keep the vectors of so many of the last different questions, so that none of these is embedded again."""
        self._question_vector = lru_cache(maxsize=count)(self._embed_question)

    def _embed_question(self, question: str) -> Vectors:
        vector = self._gathered.embed(question)
        if not _has_direction(vector[np.newaxis]).all():
            raise VectorRefused(f"The embedding model {self.name!r} gave a vector without a direction.", (0,))
        unit: Vectors = vector / np.linalg.norm(vector)
        unit.setflags(write=False)
        return unit

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the unit vectors of passages, shape (len(texts), dimension), in their order.

        Raises:
            VectorRefused: the model gave a vector that is not finite or has no length.
        """
        return self.embed(self._readings(texts, whole=False))

    def embed(self, readings: Sequence[Reading]) -> Vectors:
        """Return the unit vectors of passages that were read, shape (len(readings), dimension), in their order.

        They are embedded in batches of like length, so that little is spent on padding.

        Raises:
            VectorRefused: the model gave a vector that is not finite or has no length.
        """
        vectors = np.empty((len(readings), self.dimension), dtype=np.float32)
        keep_freed_memory()
        grouped = list(batches([len(each.encoded.ids) for each in readings]))
        texts = [[readings[place].encoded for place in batch] for batch in grouped]
        for batch, its_vectors in zip(grouped, self._batched(texts), strict=True):
            vectors[batch] = its_vectors
        refused = tuple(int(position) for position in np.flatnonzero(~_has_direction(vectors)))
        if refused:
            start = readings[refused[0]].start
            raise VectorRefused(
                f"The embedding model {self.name!r} gave a vector without a direction for {start!r}…; "
                "such a text could be found by any question or by none.",
                refused,
            )
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def vectors_of(self, batch: Sequence[Encoded], prefix: str) -> Vectors:
        """Return the vectors of one batch as the model gives them, shape (len(batch), dimension)."""
        return self._vectors(batch, prefix, self._threads)

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """Return passages as they are to be embedded, so that they are tokenised once to be counted and embedded."""
        return self._readings(texts, whole=True)

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return for each text the character offsets (start, end) of its tokens, special tokens left out."""
        return self._inference.spans(texts) if texts else []

    def _readings(self, texts: Sequence[str], *, whole: bool) -> list[Reading]:
        encoded = self._inference.encode([self.passage_prefix + text for text in texts], whole=whole)
        return [
            Reading(text[:SHOWN_CHARACTERS], len(each.ids) - self._extra_tokens, each)
            for text, each in zip(texts, encoded, strict=True)
        ]

    def _embed_queries(self, questions: Sequence[str]) -> Vectors:
        encoded = self._inference.encode([self.query_prefix + question for question in questions])
        return self._vectors(encoded, self.query_prefix, QUERY_THREADS)

    def _batched(self, batched: Sequence[Sequence[Encoded]]) -> Iterator[Vectors]:
        """Yield the vectors of batches in their order, embedded by as many processes or threads as they keep busy."""
        if len(batched) >= self._processes.count > 1:
            yield from self._processes.vectors(batched, self.passage_prefix)
            return
        share, workers = self._shares(len(batched))
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(lambda batch: self._vectors(batch, self.passage_prefix, share), batched)

    def _shares(self, count: int) -> tuple[int, int]:
        """Return the threads that share one batch, and the batches that are embedded at once."""
        # A batch for each thread rather than threads for each batch: none waits for another, which is what slows down
        # a machine that does something else as well.
        if count < self._threads or self._model.device.type != "cpu":
            return self._threads, 1
        return 1, self._threads

    def _vectors(self, batch: Sequence[Encoded], prefix: str, threads: int) -> Vectors:
        import torch

        # Holds for the calling thread alone, so it is said anew each time.
        torch.set_num_threads(threads)
        return self._inference.vectors(batch, self._inference.prefix_tokens(prefix))

    def _use(self, dtype: EmbedderDtype) -> None:
        """Multiply in bfloat16 where that is asked for, or faster, and gives the same vectors but for rounding.

        Raises:
            EmbedderError: It is asked for, and the processor cannot.
        """
        from indexer.embedding.inference import BFLOAT16_STEP
        from indexer.embedding.packing import Packing, packing_is_faster

        if dtype == "float32" or self._model.device.type != "cpu" or not (dtype == "bfloat16" or packing_is_faster()):
            return
        exact = self._probes()
        try:
            packing = Packing(self._model)
        except RuntimeError as error:
            if dtype == "auto":
                return
            raise EmbedderError(
                "OPENBOOK_EMBEDDER_DTYPE is bfloat16, and this processor cannot multiply it: "
                f"{str(error).splitlines()[0]}. Leave it at auto, or set float32."
            ) from error
        try:
            rounded = self._probes()
        except RuntimeError:
            # A model that looks at the type of its layers' numbers.
            rounded = np.zeros_like(exact)
        if float(np.min(np.sum(exact * rounded, axis=1))) > ROUNDED_COSINE:
            self.dtype = "bfloat16"
            self._inference.width_step = BFLOAT16_STEP
        else:
            packing.undo()

    def _probes(self) -> Vectors:
        encoded = self._inference.encode([self.passage_prefix + text for text in PROBE_TEXTS])
        vectors = self._vectors(encoded, self.passage_prefix, self._threads)
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


def _has_direction(vectors: Vectors) -> npt.NDArray[np.bool_]:
    # A length is not finite either where one of its numbers is not.
    lengths = np.linalg.norm(vectors, axis=1)
    return np.asarray(np.isfinite(lengths) & (lengths > LEAST_LENGTH))
