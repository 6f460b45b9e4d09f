"""Batches embedded by several processes, where a machine has more cores than the threads of one can keep busy.

joblib keeps the processes from call to call, and ends those that had nothing to do for five minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from indexer.embedding.fingerprint import Vectors
from indexer.errors import EmbedderError
from indexer.settings import EmbedderDtype

if TYPE_CHECKING:
    from indexer.embedding.embedder import Embedder
    from indexer.embedding.inference import Encoded


class EmbeddingProcesses:
    """Processes that each hold the model."""

    def __init__(self, count: int, threads: int, name: str, dtype: EmbedderDtype) -> None:
        """Use `count` processes of `threads` threads each, with the model of that name; none is started yet."""
        self.count = count
        self._threads = threads
        self._model = (name, threads, dtype)

    def vectors(self, batches: Sequence[Sequence[Encoded]], prefix: str) -> Iterator[Vectors]:
        """Yield the vectors of each batch, shape (len(batch), dimension), in their order.

        Raises:
            EmbedderError: a process was ended.
        """
        from joblib import Parallel, delayed, parallel_config
        from joblib.externals.loky.process_executor import BrokenProcessPool

        tasks = (delayed(_vectors)(self._model, batch, prefix) for batch in batches)
        try:
            with parallel_config("loky", n_jobs=self.count, inner_max_num_threads=self._threads):
                yield from Parallel(return_as="generator", batch_size=1)(tasks)
        except BrokenProcessPool as error:
            raise EmbedderError(
                "A process that embeds was ended, perhaps by the system for want of memory. What was committed is "
                f"kept. Run it again with fewer: OPENBOOK_EMBEDDER_PROCESSES={max(1, self.count // 2)}."
            ) from error


def _vectors(model: tuple[str, int, EmbedderDtype], batch: Sequence[Encoded], prefix: str) -> Vectors:
    return _loaded(*model).vectors_of(batch, prefix)


@cache
def _loaded(name: str, threads: int, dtype: EmbedderDtype) -> Embedder:
    from indexer.embedding.embedder import Embedder

    return Embedder.load(name, threads, dtype)
