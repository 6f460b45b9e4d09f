"""A program that ingests and is killed, again and again: `python -m tests.indexer.killing STORE FOLDER EMBEDDER KILLS`.

The embedder is loaded once; each ingest runs in a fork of this process, which is killed at a random instant. Prints
one JSON line for each kill: how many documents the store held when it was opened afterwards.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from contextlib import closing
from pathlib import Path

from indexer import embedders
from indexer import ingest as ingest_module
from indexer.embedding import Embedder
from indexer.index import Index
from indexer.settings import IndexerSettings


def main(store: Path, folder: Path, model: str, kills: int) -> None:
    embedder = Embedder.load(model, threads=1)
    embedders.Embedder.load = lambda *_: embedder  # type: ignore[method-assign]
    ingest_module.GROUP_DOCUMENTS = 3
    settings = IndexerSettings(embedder=model, chunk_tokens=40, embedder_threads=1)
    random_ = random.Random(7)
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            ingest_module.ingest(store, [folder], "default", settings=settings)
            os._exit(0)
        time.sleep(random_.uniform(0, 0.06))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        with closing(Index.open(store, settings=settings)) as index:
            held = [row.id for row in index.documents("default", limit=1000)] if index.collections() else []
            hits = index.search("default", "text", 1000).hits if held else ()
        found = sorted({hit.document_id for hit in hits})
        sys.stdout.write(json.dumps({"killed": os.WIFSIGNALED(status), "held": held, "found": found}) + "\n")
        # A fork would write again what is still buffered.
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
