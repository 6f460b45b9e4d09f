"""Which index a number of vectors gets, and how it is built from blocks of them, without a second copy in memory.

Up to `exact_up_to` vectors: exact. Above: lists (IVF) of 8-bit vectors, with as many looked into as it takes to find
nearly all true neighbours of its own passages.
"""

from __future__ import annotations

from collections.abc import Iterable

import faiss
import numpy as np

from indexer.embedding.fingerprint import Vectors
from indexer.vectors.clustering import cluster, nearest
from indexer.vectors.index import Ids, VectorIndex
from indexer.vectors.probing import Neighbours, choose_probes

Blocks = Iterable[tuple[Ids, Vectors]]
"""Ids that grow and their vectors of unit length: shapes (n,) and (n, dimension). Iterated twice, alike each time."""

LISTS_PER_ROOT = 2
"""Lists for √n vectors. FAISS advises 4 to 16; with 2 a query looks at more vectors and is still far below 10 ms, and
the index is built in half the time."""
SAMPLE_PER_LIST = 40
"""Vectors that the centres are computed from, for each of them; FAISS advises 39 at least."""
MOST_GROWTH = 2.0
"""An index that holds up to so many times the vectors that it was made for, or as small a part, keeps its lists."""
RANGE_SAMPLE = 16_384
"""Vectors that the ranges of the 8-bit numbers are taken from."""


def build_from(blocks: Blocks, count: int, dimension: int, exact_up_to: int) -> VectorIndex:
    """Index all vectors of `blocks`, of which there are `count`."""
    return build_exact(blocks, dimension) if count <= exact_up_to else _lists(blocks, count, dimension)


def build_exact(blocks: Blocks, dimension: int) -> VectorIndex:
    """Index all vectors of `blocks` exactly."""
    index = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))
    last_id = 0
    for ids, vectors in blocks:
        index.add_with_ids(vectors, ids)
        last_id = int(ids[-1]) if len(ids) else last_id
    return VectorIndex(index, last_id)


def _lists(blocks: Blocks, count: int, dimension: int) -> VectorIndex:
    random = np.random.default_rng(count)
    lists = min(count, round(LISTS_PER_ROOT * count**0.5))
    sample_ids, sample = _sample(blocks, count, dimension, min(count, SAMPLE_PER_LIST * lists), random)
    centres = cluster(sample, lists, random)
    index = _empty(centres, sample[:RANGE_SAMPLE])
    neighbours = Neighbours(sample_ids, sample)
    del sample
    last_id = 0
    for ids, vectors in blocks:
        _add(index, ids, vectors, centres)
        neighbours.look_at(ids, vectors)
        last_id = int(ids[-1]) if len(ids) else last_id
    built = VectorIndex(index, last_id, probes=1)
    built.probes, built.recall = choose_probes(built, neighbours)
    return built


def can_grow(lists: int, count: int) -> bool:
    """Say whether as many lists still fit `count` vectors, so that their centres need not be computed anew."""
    return lists > 0 and 1 / MOST_GROWTH <= (lists / LISTS_PER_ROOT) ** 2 / max(count, 1) <= MOST_GROWTH


def grow(index: VectorIndex, gone: Ids, new: Blocks) -> VectorIndex:
    """Return an index of lists, which was read into memory, without the ids `gone` and with the blocks `new`.

    Centres, ranges and the number of lists looked into stay. The index that is given cannot be used any more.
    """
    lists = index.faiss_lists
    lists.remove_ids(faiss.IDSelectorBatch(gone))
    centres = faiss.downcast_index(lists.quantizer).reconstruct_n(0, lists.nlist)
    last_id = index.last_id
    for ids, vectors in new:
        _add(lists, ids, vectors, centres)
        last_id = int(ids[-1]) if len(ids) else last_id
    return VectorIndex(lists, last_id, index.probes, index.recall)


def _add(index: faiss.IndexIVF, ids: Ids, vectors: Vectors, centres: Vectors) -> None:
    # The centres are found here, for FAISS takes four times as long.
    owners = nearest(vectors, centres)
    arrays = [np.ascontiguousarray(array) for array in (vectors, ids, owners)]
    index.add_core(len(ids), *(faiss.swig_ptr(array) for array in arrays))


def _empty(centres: Vectors, sample: Vectors) -> faiss.IndexIVFScalarQuantizer:
    lists, dimension = centres.shape
    quantiser = faiss.IndexFlatIP(dimension)
    quantiser.add(centres)
    index = faiss.IndexIVFScalarQuantizer(
        quantiser, dimension, lists, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    # Has its centres already, so it learns nothing but the ranges of its 8-bit numbers.
    index.train(sample)
    return index


def _sample(blocks: Blocks, count: int, dimension: int, size: int, random: np.random.Generator) -> tuple[Ids, Vectors]:
    """Return `size` of the vectors with their ids, drawn evenly and in random order."""
    chosen = np.sort(random.choice(count, size, replace=False))
    ids, sample = np.empty(size, dtype=np.int64), np.empty((size, dimension), dtype=np.float32)
    # Where each chosen vector goes: the first rows of the sample are an even sample too.
    places = random.permutation(size)
    seen = 0
    for block_ids, vectors in blocks:
        first, behind = np.searchsorted(chosen, [seen, seen + len(block_ids)])
        rows = chosen[first:behind] - seen
        ids[places[first:behind]] = block_ids[rows]
        sample[places[first:behind]] = vectors[rows]
        seen += len(block_ids)
    return ids, sample
