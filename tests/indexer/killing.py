"""A program that ingests and is killed, again and again: `python -m tests.indexer.killing STORE FOLDER EMBEDDER KILLS`.

The embedder is loaded once; each ingest runs in a fork of this process, which is killed at a random instant of the time
that an ingest takes. Now and then it may finish, and a new store is begun. Prints one JSON line for each kill and each
finish: which documents the store held when it was opened afterwards, and what the doctor said.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from contextlib import closing
from pathlib import Path

from indexer.doctor.examination import examine
from indexer.embedding import Embedder, embedders
from indexer.index import Index
from indexer.ingesting import ingest as ingest_module
from indexer.settings import IndexerSettings

FINISHED = 0.2
"""How often an ingest may finish after a kill."""


def main(store: Path, folder: Path, model: str, kills: int) -> None:
    embedder = Embedder.load(model, threads=1)
    embedders.Embedder.load = lambda *_: embedder  # type: ignore[method-assign]
    ingest_module.GROUP_DOCUMENTS = 3
    settings = IndexerSettings(embedder=model, chunk_tokens=40, embedder_threads=1, parser_workers=0)
    random_ = random.Random(7)
    started = time.monotonic()
    run(store, folder, settings)
    whole = time.monotonic() - started
    tell("finished", store, settings)
    shutil.rmtree(store)
    for _ in range(kills):
        killed = run(store, folder, settings, random_.uniform(0, whole))
        tell("killed" if killed else "too late", store, settings)
        if not killed or random_.random() < FINISHED:
            run(store, folder, settings)
            tell("finished", store, settings)
            shutil.rmtree(store)


def run(store: Path, folder: Path, settings: IndexerSettings, seconds: float | None = None) -> bool:
    """Ingest in a fork; say whether it was killed, which it is after `seconds`."""
    child = os.fork()
    if child == 0:
        ingest_module.ingest(store, [folder], "default", settings=settings)
        os._exit(0)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def tell(event: str, store: Path, settings: IndexerSettings) -> None:
    with closing(Index.open(store, settings=settings)) as index:
        held = [row.id for row in index.documents("default", limit=1000)] if index.collections() else []
        hits = index.search("default", "text", 1000).hits if held else ()
    found = sorted({hit.document_id for hit in hits})
    wrong = [f"{result.level} {result.check}" for result in examine(store) if result.level != "pass"]
    sys.stdout.write(json.dumps({"event": event, "held": held, "found": found, "wrong": wrong}) + "\n")
    # A fork would write again what is still buffered.
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
