"""Vector indexes as they are published on disk.

    vectors/<collection>/gen-N/index.faiss     inner products of unit vectors under the chunks' own ids
    vectors/<collection>/gen-N/manifest.json   what must be true of it

A generation is written beside its place, synced and renamed, and never changed afterwards. It is derived from the
store, so one that fails its checks is thrown away and made again.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import faiss

from corpus.durability import sync
from indexer.errors import StoreError, VectorsDamaged
from indexer.failpoints import failpoint
from indexer.vectors.index import VectorIndex
from indexer.vectors.manifest import Manifest, check, sums

INDEX = "index.faiss"
MANIFEST = "manifest.json"


def write_generation(home: Path, index: VectorIndex, generation: int, revision: int) -> None:
    """Write `index` as `home/gen-<generation>`; it is there completely or not at all.

    Raises:
        StoreError: the disk is full or takes no files.
    """
    unfinished = home / f".gen-{generation}.{os.getpid()}"
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
        failpoint("generation.folder_made")
        faiss.write_index(index._index, str(unfinished / INDEX))
        failpoint("generation.index_written")
        manifest = Manifest(
            generation=generation,
            revision=revision,
            count=index.count,
            last_id=index.last_id,
            dimension=index.dimension,
            lists=index.lists,
            probes=index.probes,
            recall=index.recall,
            bytes=(unfinished / INDEX).stat().st_size,
            sha256=sums(unfinished / INDEX),
        )
        (unfinished / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
        failpoint("generation.manifest_written")
        for path in (unfinished / INDEX, unfinished / MANIFEST, unfinished):
            sync(path)
        failpoint("generation.before_rename")
        os.rename(unfinished, generation_folder(home, generation))
        failpoint("generation.renamed")
        sync(home)
    except BaseException as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        # FAISS raises RuntimeError for a failed write.
        if isinstance(error, OSError | RuntimeError):
            raise StoreError(
                f"The vector index {unfinished.parent} cannot be written: {error}. Every document is in the store; "
                "make room and run the command again to publish it."
            ) from error
        raise


def read_manifest(home: Path, generation: int) -> Manifest:
    """Return what is said to be true of a published index.

    Raises:
        VectorsDamaged: it is missing or no manifest.
    """
    path = generation_folder(home, generation) / MANIFEST
    try:
        manifest = Manifest.from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise VectorsDamaged(f"The manifest {path} cannot be read: {error}.") from error
    if manifest.generation != generation:
        raise VectorsDamaged(f"The manifest {path} belongs to another index.")
    return manifest


def read_generation(
    home: Path, generation: int, dimension: int, *, whole: bool = False, in_memory: bool = False
) -> VectorIndex:
    """Open a published index, once it has passed every check.

    Args:
        home: the folder of the collection's generations.
        generation: which one.
        dimension: numbers in a vector.
        whole: sum every byte of it, even where it is too long for that to be done at each opening.
        in_memory: read it instead of mapping it, so that it can be changed.

    Raises:
        VectorsDamaged: it is missing, or anything about it is not as its manifest says.
    """
    path = generation_folder(home, generation) / INDEX
    manifest = read_manifest(home, generation)
    try:
        check(path, manifest, whole=whole)
        faiss_index = faiss.read_index(str(path), 0 if in_memory else faiss.IO_FLAG_MMAP_IFC)
        index = VectorIndex(faiss_index, manifest.last_id, manifest.probes, manifest.recall)
        said = (manifest.count, manifest.dimension, manifest.lists)
        if (index.count, index.dimension, index.lists) != said or dimension != manifest.dimension:
            raise ValueError("it does not hold what its manifest says")
    except (OSError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        raise VectorsDamaged(f"The vector index {path} cannot be read: {error}.") from error
    return index


def generation_folder(home: Path, generation: int) -> Path:
    """Return where a generation lies."""
    return home / f"gen-{generation}"


def generation_numbers(home: Path) -> list[int]:
    """Return the numbers of the finished generations in a folder, in their order; damaged ones do not count."""
    return sorted(int(path.name[4:]) for path in home.glob("gen-*") if path.name[4:].isdecimal())


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


def drop_unpublished(home: Path, published: int) -> None:
    """Remove what a writer that was killed has left: unfinished generations, and those that nothing points to."""
    unpublished = [generation_folder(home, number) for number in generation_numbers(home) if number > published]
    for path in [*home.glob(".gen-*"), *unpublished]:
        shutil.rmtree(path, ignore_errors=True)


def drop_old_generations(home: Path, published: int) -> None:
    """Remove every generation but the published one and the one before, which a reader may be about to open."""
    older = [number for number in generation_numbers(home) if number < published][:-1]
    failpoint("drop.begun")
    for number in older:
        shutil.rmtree(generation_folder(home, number), ignore_errors=True)
        failpoint("drop.half")
    for unfinished in home.glob(".gen-*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    failpoint("drop.done")
