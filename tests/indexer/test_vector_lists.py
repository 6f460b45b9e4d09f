"""Indexes of lists: what they find, what they never return, and what of them is checked."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.errors import VectorsDamaged
from indexer.vectors import (
    INDEX,
    MANIFEST,
    VectorIndex,
    build_from,
    can_grow,
    generation_folder,
    grow,
    manifest,
    read_generation,
    read_manifest,
    write_generation,
)
from tests.indexer.test_vectors import DAMAGES

DIMENSION = 32
NUMBER = 4000


def clustered(count: int, seed: int = 0, centres: int = 60) -> np.ndarray:
    """Return unit vectors around a few directions, as texts about a few subjects are."""
    middles = np.random.default_rng(99).normal(size=(centres, DIMENSION))
    random = np.random.default_rng(seed)
    vectors = middles[random.integers(0, centres, count)] + 0.6 * random.normal(size=(count, DIMENSION))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


class Rows:
    """Vectors as the store gives them: in blocks, as often as they are asked for, less those that were deleted."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors
        self.ids = np.arange(len(vectors), dtype=np.int64) * 3 + 7
        self.by_id = dict(zip(self.ids.tolist(), vectors, strict=True))

    def __iter__(self):
        for start in range(0, len(self.ids), 700):
            yield self.ids[start : start + 700], self.vectors[start : start + 700]

    def stored(self, ids):
        there = [id_ for id_ in ids if id_ in self.by_id]
        vectors = np.array([self.by_id[id_] for id_ in there], dtype=np.float32).reshape(-1, DIMENSION)
        return np.array(there, dtype=np.int64), vectors

    def nearest(self, query, top_k, among=None):
        scores = {id_: float(vector @ query) for id_, vector in self.by_id.items() if among is None or id_ in among}
        return sorted(scores, key=lambda id_: (-scores[id_], id_))[:top_k]


@pytest.fixture(scope="module")
def built() -> VectorIndex:
    return build_from(Rows(clustered(NUMBER)), NUMBER, DIMENSION, exact_up_to=100)


@pytest.fixture
def rows() -> Rows:
    return Rows(clustered(NUMBER))


def test_the_number_of_vectors_decides_the_kind(rows):
    exact = build_from(rows, NUMBER, DIMENSION, exact_up_to=NUMBER)
    lists = build_from(rows, NUMBER, DIMENSION, exact_up_to=NUMBER - 1)
    assert (exact.lists, exact.probes, exact.count, exact.last_id) == (0, None, NUMBER, rows.ids[-1])
    assert (lists.lists, lists.count, lists.last_id) == (126, NUMBER, rows.ids[-1])
    assert 1 <= lists.probes < lists.lists
    assert 0.98 <= lists.recall <= 1


def test_lists_find_nearly_all_that_exact_search_finds(built, rows):
    shares = [
        len({id_ for id_, _ in built.search(query, 10, None, rows.stored)} & set(rows.nearest(query, 10))) / 10
        for query in clustered(100, seed=1)
    ]
    assert np.mean(shares) >= 0.95


def test_scores_from_lists_are_exact_and_in_order(built, rows):
    for query in clustered(20, seed=2):
        found = built.search(query, 10, None, rows.stored)
        assert [score for _, score in found] == pytest.approx([rows.by_id[id_] @ query for id_, _ in found], abs=1e-6)
        assert list(found) == sorted(found, key=lambda pair: (-pair[1], pair[0]))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), top_k=st.integers(1, 60), seed=st.integers(0, 99))
def test_a_filter_is_kept_and_gives_as_many_as_there_are(built, data, top_k, seed):
    rows = Rows(clustered(NUMBER))
    size = data.draw(st.sampled_from([0, 1, 5, 900, 1500, 3000]))
    among = set(np.random.default_rng(seed).choice(rows.ids, size, replace=False).tolist())
    query = clustered(1, seed)[0]
    found = [id_ for id_, _ in built.search(query, top_k, sorted(among | {3, 10**9}), rows.stored)]
    assert set(found) <= among
    assert len(found) == len(set(found)) == min(top_k, size)
    if size <= 900:
        assert found == rows.nearest(query, top_k, among)


def test_a_filter_far_from_the_question_still_gives_what_there_is(built, rows):
    query = rows.vectors[0]
    scores = rows.vectors @ query
    far = rows.ids[np.argsort(scores)[:1200]].tolist()
    found = [id_ for id_, _ in built.search(query, 10, far, rows.stored)]
    assert len(found) == 10
    assert set(found) <= set(far)


def test_vectors_that_the_store_has_no_more_are_never_returned_and_take_no_places(built, rows):
    query = rows.vectors[0]
    for id_ in rows.nearest(query, 500):
        del rows.by_id[id_]
    found = [id_ for id_, _ in built.search(query, 10, None, rows.stored)]
    assert len(found) == 10
    assert set(found) <= set(rows.by_id)


def test_all_that_is_left_is_found_where_next_to_nothing_is_left(built, rows):
    rows.by_id = {id_: rows.by_id[id_] for id_ in rows.ids[[3, 1000, 3999]].tolist()}
    assert [id_ for id_, _ in built.search(rows.vectors[3], 10, None, rows.stored)] == rows.nearest(rows.vectors[3], 10)


def test_the_whole_index_can_be_asked_for(built, rows):
    assert len(built.search(rows.vectors[0], NUMBER + 5, None, rows.stored)) == NUMBER


def test_equal_vectors_come_in_the_order_of_their_ids():
    rows = Rows(np.repeat(clustered(1), 300, axis=0))
    index = build_from(rows, 300, DIMENSION, exact_up_to=10)
    assert index.count == 300
    assert [id_ for id_, _ in index.search(rows.vectors[0], 3, [100, 70, 40], rows.stored)] == [40, 70, 100]


def test_the_same_vectors_give_the_same_index(tmp_path, rows):
    for generation in (1, 2):
        write_generation(tmp_path, build_from(rows, NUMBER, DIMENSION, exact_up_to=0), generation, revision=1)
    assert read_manifest(tmp_path, 1).sha256 == read_manifest(tmp_path, 2).sha256


def test_a_published_index_of_lists_reads_as_it_was_written(tmp_path, built, rows):
    write_generation(tmp_path, built, 1, revision=4)
    index = read_generation(tmp_path, 1, DIMENSION)
    said = read_manifest(tmp_path, 1)
    assert (index.count, index.lists, index.probes, index.recall) == (NUMBER, 126, built.probes, built.recall)
    assert (said.lists, said.probes, said.last_id) == (126, built.probes, rows.ids[-1])
    for query in clustered(5, seed=3):
        assert index.search(query, 10, None, rows.stored) == built.search(query, 10, None, rows.stored)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_of_lists_is_never_opened(tmp_path, built, damage):
    write_generation(tmp_path, built, 1, revision=1)
    damage(generation_folder(tmp_path, 1))
    with pytest.raises(VectorsDamaged):
        read_generation(tmp_path, 1, DIMENSION)


def test_a_manifest_that_says_something_else_is_damaged(tmp_path, built):
    write_generation(tmp_path, built, 1, revision=1)
    path = generation_folder(tmp_path, 1) / MANIFEST
    for change in ({"probes": 1}, {"recall": 0.5}, {"sha256": []}, {"manifest_sha256": ""}, {"other": 1}):
        said = json.loads(path.read_text())
        path.write_text(json.dumps(said | change))
        with pytest.raises(VectorsDamaged, match="its own checksum"):
            read_generation(tmp_path, 1, DIMENSION)
        path.write_text(json.dumps(said))
    read_generation(tmp_path, 1, DIMENSION)


def flip(path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_damage_in_the_middle_of_a_long_index_is_found_by_a_whole_check_and_soon_without(tmp_path, built, monkeypatch):
    monkeypatch.setattr(manifest, "BLOCK", 4096)
    write_generation(tmp_path, built, 1, revision=1)
    path = generation_folder(tmp_path, 1) / INDEX
    assert path.stat().st_size > 30 * 4096
    flip(path, path.stat().st_size // 2)
    with pytest.raises(VectorsDamaged, match="checksum"):
        read_generation(tmp_path, 1, DIMENSION, whole=True)
    with pytest.raises(VectorsDamaged, match="checksum"):
        [read_generation(tmp_path, 1, DIMENSION) for _ in range(200)]


@pytest.mark.parametrize("block", [0, 1, 2, 3, -1])
def test_damage_at_the_start_or_the_end_of_a_long_index_is_found_at_once(tmp_path, built, monkeypatch, block):
    monkeypatch.setattr(manifest, "BLOCK", 4096)
    write_generation(tmp_path, built, 1, revision=1)
    path = generation_folder(tmp_path, 1) / INDEX
    flip(path, block * 4096 + 100 if block >= 0 else path.stat().st_size - 5)
    with pytest.raises(VectorsDamaged, match="checksum"):
        read_generation(tmp_path, 1, DIMENSION)


def test_every_block_of_an_exact_index_is_summed_however_long_it_is(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(manifest, "BLOCK", 4096)
    write_generation(tmp_path, build_from(rows, NUMBER, DIMENSION, exact_up_to=NUMBER), 1, revision=1)
    path = generation_folder(tmp_path, 1) / INDEX
    flip(path, path.stat().st_size // 2)
    with pytest.raises(VectorsDamaged, match="checksum"):
        read_generation(tmp_path, 1, DIMENSION)


def test_an_index_grows_by_what_is_new_and_loses_what_is_gone(tmp_path, built):
    write_generation(tmp_path, built, 1, revision=1)
    rows = Rows(np.concatenate([clustered(NUMBER), clustered(900, seed=7)]))
    gone = rows.ids[100:300]
    new = [(rows.ids[NUMBER:], rows.vectors[NUMBER:])]
    grown = grow(read_generation(tmp_path, 1, DIMENSION, in_memory=True), gone, new)
    for id_ in gone.tolist():
        del rows.by_id[id_]
    assert sorted(grown.ids().tolist()) == sorted(rows.by_id)
    assert (grown.count, grown.last_id, grown.probes) == (NUMBER + 700, rows.ids[-1], built.probes)
    shares = [
        len({id_ for id_, _ in grown.search(query, 10, None, rows.stored)} & set(rows.nearest(query, 10))) / 10
        for query in clustered(100, seed=8)
    ]
    assert np.mean(shares) >= 0.95
    write_generation(tmp_path, grown, 2, revision=2)
    query = rows.vectors[-1]
    assert read_generation(tmp_path, 2, DIMENSION).search(query, 5, None, rows.stored) == grown.search(
        query, 5, None, rows.stored
    )


def test_lists_fit_up_to_twice_the_vectors_that_they_were_made_for():
    lists = 2 * 100
    assert [can_grow(lists, count) for count in (4999, 5000, 10_000, 20_000, 20_001)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert not can_grow(0, 10_000)
