"""Many small documents: whether each costs as much as the one before it, and what one changed file costs among them.

The documents are embedded by the first layer of the packaged model alone, which is no good for finding: what is
measured is everything else.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from indexer.benchmarks.ingesting import COLLECTION
from indexer.embedding.bare import save_shallow
from indexer.embedding.embedders import Embedders
from indexer.index import Index
from indexer.ingesting.following import Watcher
from indexer.ingesting.ingest import ingest
from indexer.search.options import SearchOptions
from indexer.settings import IndexerSettings
from terminal import Progress

PARTS = 10
SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za")
WORDS_EACH = 30
FOLDER_FILES = 1000
MEBIBYTE = 2**20
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Growth:
    """The parts of one ingest, and the changed file after it."""

    documents: int
    seconds: tuple[float, ...]
    """For each tenth of the documents."""
    resident_mib: tuple[float, ...]
    """The resident memory of the process at the end of each tenth."""
    unchanged_seconds: float
    """The command over all files when none has changed."""
    changed_seconds: float
    """From the start of the command over all files, one of which has changed, until a search finds its new text."""
    load_seconds: float
    """What loading the embedder takes of that, measured in a process of its own."""

    @property
    def slowest_by_fastest(self) -> float:
        """Return how much longer the slowest tenth took than the fastest; the first warms up and is left out."""
        return max(self.seconds[1:]) / min(self.seconds[1:])

    @property
    def searchable_seconds(self) -> float:
        """Return from the command's start until the change is found, the loading of the embedder left out."""
        return self.changed_seconds - self.load_seconds


def measure(documents: int, settings: IndexerSettings) -> Growth:
    """Ingest that many small documents, then one of them changed."""
    with tempfile.TemporaryDirectory(prefix="openbook-bench-") as name:
        home = Path(name)
        save_shallow(settings.embedder, home / "shallow")
        settings = settings.model_copy(update={"embedder": str(home / "shallow")})
        folder = home / "documents"
        for number in range(documents):
            _write(folder, number, "")
        watcher = _Parts(documents)
        with Progress("Ingesting", documents, "documents") as progress:
            watcher.advance = progress.advance
            embedders = Embedders(None, settings)
            embedders.load(None)
            watcher.begin()
            ingest(
                home / "store",
                [folder],
                COLLECTION,
                embedder=embedders,
                settings=settings,
                watcher=Watcher(report=lambda _: watcher.one_more()),
            )
        # The files that were written last are read once more: their times could not tell of a change since.
        _command(home)
        unchanged = _command(home)
        _write(folder, documents // 2, "It has changed.")
        changed = _until_found(home, "changed")
        return Growth(documents, tuple(watcher.seconds), tuple(watcher.resident), unchanged, changed, _load(home))


class _Parts:
    """Notes time and memory at each tenth."""

    def __init__(self, documents: int) -> None:
        self.seconds: list[float] = []
        self.resident: list[float] = []
        self.advance: Callable[[int], object] = lambda _: None
        self._step = documents // PARTS
        self._seen = 0
        self._last = 0.0

    def begin(self) -> None:
        self._last = time.perf_counter()

    def one_more(self) -> None:
        self._seen += 1
        if self._seen % self._step == 0:
            now = time.perf_counter()
            self.seconds.append(now - self._last)
            self.resident.append(_resident_mib())
            self._last = now
            self.advance(self._step)


def _write(folder: Path, number: int, ending: str) -> None:
    # Words of three syllables, so that no two documents are alike.
    chance = random.Random(number)
    words = " ".join("".join(chance.choices(SYLLABLES, k=3)) for _ in range(WORDS_EACH))
    path = folder / str(number // FOLDER_FILES) / f"{number}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f"{words}. The warden of house {number} keeps {number * 7} shells. {ending}"
    path.write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")


def _command(home: Path) -> float:
    """Run the command over all files and return its seconds."""
    started = time.perf_counter()
    _end(_started(home))
    return time.perf_counter() - started


def _until_found(home: Path, word: str) -> float:
    """Run the command, and return the seconds until an open index finds a word that no document had before.

    Raises:
        RuntimeError: the command has ended, and it is not found.
    """
    with closing(Index.open(home / "store")) as index:
        started = time.perf_counter()
        process = _started(home)
        found = 0.0
        while not found and process.poll() is None:
            if index.search(COLLECTION, word, 1, SearchOptions(retriever="lexical")).hits:
                found = time.perf_counter() - started
            time.sleep(POLL_SECONDS)
        _end(process)
    if not found:
        raise RuntimeError(f"The command has ended, and {word!r} is not found.")
    return found


def _started(home: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "openbook", "ingest", str(home / "documents"), "--json"]
    options = ["--store", str(home / "store"), "--collection", COLLECTION]
    return subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _end(process: subprocess.Popen[bytes]) -> None:
    if code := process.wait():
        raise subprocess.CalledProcessError(code, process.args)


def _load(home: Path) -> float:
    program = (
        "import json, sys, time\n"
        "from indexer.embedding.embedders import Embedders\nfrom indexer.settings import IndexerSettings\n"
        "started = time.perf_counter()\nEmbedders(sys.argv[1], IndexerSettings()).load(None).fingerprint()\n"
        "print(json.dumps(time.perf_counter() - started))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(home / "shallow")], check=True, capture_output=True, text=True
    )
    return float(json.loads(done.stdout))


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEBIBYTE
