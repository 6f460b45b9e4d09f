"""The door to FAISS: a vector index in memory, and its published form on disk.

    vectors/<collection>/gen-N/index.faiss     inner products of unit vectors, exact, under the chunks' own ids
    vectors/<collection>/gen-N/manifest.json   what must be true of it

A generation is written beside its place, synced and renamed, and never changed afterwards. It is derived from the
store, so one that fails its checks is thrown away and made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import faiss
import numpy as np
import numpy.typing as npt

from indexer.errors import StoreError, VectorsDamaged
from indexer.fingerprint import Vectors

INDEX = "index.faiss"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What must be true of a published index."""

    generation: int
    revision: int
    """The revision of the collection that it was built from."""
    count: int
    last_id: int
    """The greatest id it holds, 0 where it holds none. Ids grow, so whatever it does not know is above."""
    dimension: int
    bytes: int
    sha256: str


class VectorIndex:
    """Exact nearest neighbours by cosine. Never changed once built, so any number of threads may search it."""

    def __init__(self, index: faiss.Index, last_id: int) -> None:
        """Wrap an index that FAISS holds, and the greatest id in it."""
        self._index = index
        self.last_id = last_id

    @classmethod
    def build(cls, ids: npt.NDArray[np.int64], vectors: Vectors) -> VectorIndex:
        """Index `vectors` of unit length, shape (n, dimension), under `ids`, shape (n,), which grow."""
        index = faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
        index.add_with_ids(vectors, ids)
        return cls(index, int(ids[-1]) if len(ids) else 0)

    @property
    def count(self) -> int:
        """How many vectors it holds."""
        return int(self._index.ntotal)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._index.d)

    def search(self, query: Vectors, top_k: int, among: Sequence[int] | None = None) -> tuple[tuple[int, float], ...]:
        """Return up to `top_k` pairs of id and cosine, the nearest first, equal ones by id.

        Args:
            query: one vector of unit length, shape (dimension,).
            top_k: how many are wanted.
            among: search these ids alone; None searches all.
        """
        if among is not None and not among:
            return ()
        parameters = None
        if among is not None:
            parameters = faiss.SearchParameters(  # type: ignore[call-arg]
                sel=faiss.IDSelectorBatch(np.asarray(among, dtype=np.int64))
            )
        scores, ids = self._index.search(query.reshape(1, -1), min(top_k, max(self.count, 1)), params=parameters)
        pairs = [(int(id_), float(score)) for id_, score in zip(ids[0], scores[0], strict=True) if id_ >= 0]
        return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


def write_generation(home: Path, index: VectorIndex, generation: int, revision: int) -> None:
    """Write `index` as `home/gen-<generation>`; it is there completely or not at all.

    Raises:
        StoreError: the disk is full or takes no files.
    """
    unfinished = home / f".gen-{generation}.{os.getpid()}"
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
        faiss.write_index(index._index, str(unfinished / INDEX))
        manifest = Manifest(
            generation=generation,
            revision=revision,
            count=index.count,
            last_id=index.last_id,
            dimension=index.dimension,
            bytes=(unfinished / INDEX).stat().st_size,
            sha256=_sha256(unfinished / INDEX),
        )
        (unfinished / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")
        for path in (unfinished / INDEX, unfinished / MANIFEST, unfinished):
            _sync(path)
        os.rename(unfinished, generation_folder(home, generation))
        _sync(home)
    except BaseException as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        # FAISS raises RuntimeError for a failed write.
        if isinstance(error, OSError | RuntimeError):
            raise StoreError(
                f"The vector index {unfinished.parent} cannot be written: {error}. Every document is in the store; "
                "make room and run the command again to publish it."
            ) from error
        raise


def read_generation(home: Path, generation: int, dimension: int) -> VectorIndex:
    """Open a published index by memory map, once it has passed every check.

    Raises:
        VectorsDamaged: it is missing, or anything about it is not as its manifest says.
    """
    folder = generation_folder(home, generation)
    try:
        manifest = Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
        _check(folder / INDEX, manifest, generation, dimension)
        index = VectorIndex(faiss.read_index(str(folder / INDEX), faiss.IO_FLAG_MMAP_IFC), manifest.last_id)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise VectorsDamaged(f"The vector index {folder} cannot be read: {error}.") from error
    if (index.count, index.dimension) != (manifest.count, manifest.dimension):
        raise VectorsDamaged(f"The vector index {folder} does not hold what its manifest says.")
    return index


def generation_folder(home: Path, generation: int) -> Path:
    """Return where a generation lies."""
    return home / f"gen-{generation}"


def next_generation(home: Path, published: int) -> int:
    """Return a number that no generation has had: one that was written but never pointed to counts as used."""
    numbers = [int(path.name.removeprefix("gen-").split(".")[0]) for path in home.glob("gen-*")]
    return max([published, *numbers]) + 1


def quarantine(home: Path, generation: int) -> None:
    """Set a damaged generation aside under another name, so that it can be looked at and is never loaded."""
    folder = generation_folder(home, generation)
    if folder.exists():
        aside = home / f"{folder.name}.damaged"
        shutil.rmtree(aside, ignore_errors=True)
        os.rename(folder, aside)


def drop_old_generations(home: Path, published: int) -> None:
    """Remove every generation but the published one and the one before, which a reader may be about to open."""
    kept = sorted((int(path.name[4:]) for path in home.glob("gen-*") if path.name[4:].isdecimal()), reverse=True)
    older = [number for number in kept if number < published][1:]
    for number in older:
        shutil.rmtree(generation_folder(home, number), ignore_errors=True)
    for unfinished in home.glob(".gen-*"):
        shutil.rmtree(unfinished, ignore_errors=True)


def _check(path: Path, manifest: Manifest, generation: int, dimension: int) -> None:
    if (manifest.generation, manifest.dimension) != (generation, dimension):
        raise ValueError("its manifest belongs to another index")
    if path.stat().st_size != manifest.bytes:
        raise ValueError(f"{path.name} has {path.stat().st_size} bytes instead of {manifest.bytes}")
    if _sha256(path) != manifest.sha256:
        raise ValueError(f"the checksum of {path.name} does not agree with its manifest")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
