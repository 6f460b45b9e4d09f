"""What most benchmarks begin with: the shipped corpus in a store of its own, served by `openbook serve`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from corpus.loading import load_corpus
from corpus.schema import Corpus
from corpus.writing import write_jsonl
from experiments.client import Client
from experiments.commands import Indexing, OpenbookCommands

SHIPPED_CORPUS = Path(__file__).parents[2] / "corpus" / "lormar"
COLLECTION = "bench"


@dataclass(frozen=True)
class Store:
    """A folder that holds an index of the shipped corpus, and the logs of what works on it."""

    folder: Path
    corpus: Corpus

    def add(self, collection: str, indexing: Indexing) -> None:
        """Index the corpus once more, in another collection."""
        documents = self.folder / "documents.jsonl"
        OpenbookCommands().ingest(documents, self.folder / "store", collection, indexing, self.folder / "ingest.log")

    @contextmanager
    def served(self, environment: Mapping[str, str] | None = None, engine_url: str | None = None) -> Iterator[Client]:
        """Serve it with the default model.

        Args:
            environment: What the server is told beside that, such as `OPENBOOK_MAX_IN_FLIGHT`.
            engine_url: An engine to use instead of starting one.
        """
        # Lets the engine, which only this machine can reach, empty its prefix cache when it is asked to.
        told = {"VLLM_SERVER_DEV_MODE": "1", **(environment or {})}
        commands = OpenbookCommands(engine_url, told)
        with commands.serve(None, self.folder / "store", None, self.folder / "serve.log") as client:
            yield client


@contextmanager
def indexed(indexing: Indexing | None = None) -> Iterator[Store]:
    """Index the shipped corpus into a store that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="openbook-bench-") as name:
        store = Store(Path(name), load_corpus(SHIPPED_CORPUS))
        write_jsonl(store.folder, store.corpus)
        store.add(COLLECTION, indexing or Indexing())
        yield store
