"""How fast files become searchable, against an encoder that only embeds their chunks.

The files are cut into blocks. For each block: Openbook ingests it (read, parse, cut, embed, commit, publish), the bare
encoder embeds the same chunks in both ways, and Openbook ingests the block again into a store of its own. So it goes
both first and last, and what warms up or slows down the machine on the way favours neither.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from corpus.world.generate import SEED, iter_documents
from indexer.embedding import Embedder
from indexer.embedding.bare import Bare, Time
from indexer.embedding.embedders import Embedders
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from indexer.settings import IndexerSettings
from terminal import Progress

COLLECTION = "bench"
WORLD_DOCUMENTS = 600
MOST = 1_000_000


@dataclass(frozen=True)
class Block:
    """One block, as each contender did it."""

    files: int
    chunks: int
    openbook: Time
    defaults: Time
    """`encode` in float32 and batches of 32."""
    same: Time
    """`encode` in the type and the batches that Openbook uses."""
    unchanged: Time
    """Openbook again, over the unchanged files."""


@dataclass(frozen=True)
class Throughput:
    """All blocks together; ratios above 1 are Openbook's gain."""

    dtype: str
    blocks: tuple[Block, ...]
    chunks: int
    openbook_per_second: float
    defaults_per_second: float
    same_per_second: float
    against_defaults: float
    """Openbook's chunks per second over those of `encode` with its defaults, at the median of the blocks."""
    against_same: float
    """The same over `encode` with the type and batches that Openbook uses."""
    processor_against_defaults: float
    """The same as `against_defaults` by seconds of the processor."""
    processor_against_same: float
    unchanged_speedup: float
    """How many times faster the unchanged files are passed over, at the median."""


def measure(folder: Path | None, blocks: int, settings: IndexerSettings) -> Throughput:
    """Measure the ingest of the files of a folder, or of documents of an invented world.

    Raises:
        ValueError: the folder holds fewer files than blocks.
    """
    with tempfile.TemporaryDirectory(prefix="openbook-bench-") as name:
        home = Path(name)
        parts = _blocks(folder or _world(home / "world"), blocks, home / "blocks")
        embedders = Embedders(None, settings)
        embedder = embedders.load(None)
        with closing(Bare(embedder.name, "float32")) as exact, closing(Bare(embedder.name, embedder.dtype)) as same:
            contenders = _Contenders(embedders, exact, same, settings)
            contenders.warm_up()
            with Progress("Ingesting", len(parts), "blocks") as progress:
                measured = []
                for number, part in enumerate(parts):
                    measured.append(contenders.measure(part, home / f"stores-{number}"))
                    progress.advance()
    return _together(embedder.dtype, measured)


@dataclass(frozen=True)
class _Contenders:
    embedders: Embedders
    exact: Bare
    same: Bare
    settings: IndexerSettings

    def warm_up(self) -> None:
        """Do once what only a first time pays for."""
        texts = ["The harbour master keeps the tide tables."] * 32
        readings = self._embedder().read(texts)
        self._embedder().embed(readings)
        self.exact.encode(texts)
        self.same.encode_batches(texts, readings)

    def measure(self, folder: Path, stores: Path) -> Block:
        """Measure one block; two stores are made below `stores`."""
        first = _timed(lambda: self._ingest(folder, stores / "first"))
        unchanged = _timed(lambda: self._ingest(folder, stores / "first"))
        texts = self._chunks(stores / "first")
        defaults = self.exact.encode(texts)
        readings = self._embedder().read(texts)
        same = self.same.encode_batches(texts, readings)
        last = _timed(lambda: self._ingest(folder, stores / "last"))
        mean = Time((first.seconds + last.seconds) / 2, (first.processor + last.processor) / 2)
        return Block(_count(folder), len(texts), mean, defaults, same, unchanged)

    def _embedder(self) -> Embedder:
        return self.embedders.load(None)

    def _ingest(self, folder: Path, store: Path) -> None:
        ingest(store, [folder], COLLECTION, embedder=self.embedders, settings=self.settings)

    def _chunks(self, store: Path) -> list[str]:
        with closing(Index.open(store, settings=self.settings)) as index:
            details = [index.document(COLLECTION, row.id) for row in index.documents(COLLECTION, limit=MOST)]
        return [f"{chunk.context}\n{chunk.text}".strip() for detail in details for chunk in detail.chunks]


def _together(dtype: str, blocks: Sequence[Block]) -> Throughput:
    chunks = sum(block.chunks for block in blocks)
    return Throughput(
        dtype=dtype,
        blocks=tuple(blocks),
        chunks=chunks,
        openbook_per_second=chunks / sum(block.openbook.seconds for block in blocks),
        defaults_per_second=chunks / sum(block.defaults.seconds for block in blocks),
        same_per_second=chunks / sum(block.same.seconds for block in blocks),
        against_defaults=statistics.median(block.defaults.seconds / block.openbook.seconds for block in blocks),
        against_same=statistics.median(block.same.seconds / block.openbook.seconds for block in blocks),
        processor_against_defaults=statistics.median(
            block.defaults.processor / block.openbook.processor for block in blocks
        ),
        processor_against_same=statistics.median(block.same.processor / block.openbook.processor for block in blocks),
        unchanged_speedup=statistics.median(block.openbook.seconds / block.unchanged.seconds for block in blocks),
    )


def _world(folder: Path) -> Path:
    """Write documents of the invented world as Markdown files."""
    folder.mkdir(parents=True)
    for document in islice(iter_documents(SEED, WORLD_DOCUMENTS), WORLD_DOCUMENTS):
        (folder / f"{document.id.replace('/', '-')}.md").write_text(document.text, encoding="utf-8")
    return folder


def _blocks(folder: Path, count: int, home: Path) -> list[Path]:
    """Deal the files of a folder out to as many folders as there are blocks."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if len(files) < count:
        raise ValueError(f"{folder} holds {len(files)} files, fewer than {count} blocks")
    for number, path in enumerate(files):
        target = home / str(number % count) / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return [home / str(number) for number in range(count)]


def _count(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


def _timed(call: Callable[[], object]) -> Time:
    """Run something; the processes that it starts and ends count as well."""
    started, before = time.perf_counter(), _processor()
    call()
    return Time(time.perf_counter() - started, _processor() - before)


def _processor() -> float:
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
