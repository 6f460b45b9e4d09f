"""Published vectors: exact, checked, and never half there."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.errors import StoreError, VectorsDamaged
from indexer.vectors import (
    INDEX,
    MANIFEST,
    VectorIndex,
    drop_old_generations,
    generation_folder,
    next_generation,
    quarantine,
    read_generation,
    write_generation,
)


def unit_vectors(count: int, seed: int = 0, dimension: int = 8) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def small(count: int = 5) -> VectorIndex:
    return VectorIndex.build(np.arange(count, dtype=np.int64) * 3 + 7, unit_vectors(count))


@settings(max_examples=50, deadline=None)
@given(count=st.integers(0, 40), top_k=st.integers(1, 50), seed=st.integers(0, 99), some=st.sets(st.integers(0, 130)))
def test_search_agrees_with_sorting_all_inner_products(count, top_k, seed, some):
    ids, vectors = np.arange(count, dtype=np.int64) * 3 + 7, unit_vectors(count, seed)
    query = unit_vectors(1, seed + 1000)[0]
    scores = dict(zip(ids.tolist(), (vectors @ query).tolist(), strict=True))
    index = VectorIndex.build(ids, vectors)
    for among in (None, sorted(some)):
        allowed = {id_: score for id_, score in scores.items() if among is None or id_ in some}
        expected = sorted(allowed, key=lambda id_: -allowed[id_])[:top_k]
        found = index.search(query, top_k, among)
        assert [id_ for id_, _ in found] == expected
        assert [score for _, score in found] == pytest.approx([allowed[id_] for id_ in expected], abs=1e-6)


def test_equal_vectors_come_in_the_order_of_their_ids():
    index = VectorIndex.build(np.array([3, 5, 9]), np.repeat(unit_vectors(1), 3, axis=0))
    assert [id_ for id_, _ in index.search(unit_vectors(1)[0], 3)] == [3, 5, 9]


def test_a_published_index_reads_as_it_was_written(tmp_path):
    write_generation(tmp_path, small(), 1, revision=4)
    index = read_generation(tmp_path, 1, 8)
    assert (index.count, index.dimension, index.last_id) == (5, 8, 19)
    assert index.search(unit_vectors(5)[2], 1)[0][0] == 13
    assert not list(tmp_path.glob(".gen-*"))


def test_an_empty_index_can_be_published(tmp_path):
    write_generation(tmp_path, small(0), 1, revision=1)
    index = read_generation(tmp_path, 1, 8)
    assert (index.count, index.last_id, index.search(unit_vectors(1)[0], 3)) == (0, 0, ())


def damage_emptied(folder):
    (folder / INDEX).write_bytes(b"")


def damage_cut(folder):
    (folder / INDEX).write_bytes((folder / INDEX).read_bytes()[:-10])


def damage_flipped(folder):
    content = bytearray((folder / INDEX).read_bytes())
    content[-5] ^= 1
    (folder / INDEX).write_bytes(content)


def damage_missing(folder):
    (folder / INDEX).unlink()


def damage_no_manifest(folder):
    (folder / MANIFEST).unlink()


def damage_cut_manifest(folder):
    (folder / MANIFEST).write_text((folder / MANIFEST).read_text()[:10])


def damage_other_manifest(folder):
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | {"generation": 2}))


def damage_flipped_manifest(folder):
    text = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(text.replace('"last_id": ', '"last_id": 1', 1))


DAMAGES = [
    damage_emptied,
    damage_cut,
    damage_flipped,
    damage_missing,
    damage_no_manifest,
    damage_cut_manifest,
    damage_other_manifest,
    damage_flipped_manifest,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_never_opened(tmp_path, damage):
    write_generation(tmp_path, small(), 1, revision=1)
    damage(generation_folder(tmp_path, 1))
    with pytest.raises(VectorsDamaged):
        read_generation(tmp_path, 1, 8)


def test_a_disk_that_takes_no_files_leaves_no_half_index(tmp_path, monkeypatch):
    def full(*_):
        raise RuntimeError("Error in write: No space left on device")

    monkeypatch.setattr("indexer.vectors.generations.faiss.write_index", full)
    with pytest.raises(StoreError, match="make room"):
        write_generation(tmp_path, small(), 1, revision=1)
    assert list(tmp_path.iterdir()) == []


def test_a_number_of_a_generation_is_never_used_again(tmp_path):
    assert next_generation(tmp_path, 0) == 1
    write_generation(tmp_path, small(), 3, revision=1)
    assert next_generation(tmp_path, 2) == 4
    quarantine(tmp_path, 3)
    assert next_generation(tmp_path, 2) == 4
    with pytest.raises(VectorsDamaged):
        read_generation(tmp_path, 3, 8)


def test_the_generation_before_is_kept_for_a_reader_that_is_about_to_open_it(tmp_path):
    for generation in (1, 2, 3):
        write_generation(tmp_path, small(), generation, revision=generation)
    (tmp_path / ".gen-9.123").mkdir()
    drop_old_generations(tmp_path, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gen-2", "gen-3"]
