"""When an index is published anew: not at every commit, but before what waits or what is dead costs too much."""

from __future__ import annotations

from contextlib import closing

import pytest

from indexer import publishing
from indexer.index import Index
from indexer.ingesting.deletion import delete
from indexer.publishing import publish, publish_if_due
from indexer.store import queries
from indexer.store.writer import open_writer
from indexer.vectors import read_generation
from tests.indexer.test_store import DIMENSION, FINGERPRINT, version


@pytest.fixture
def writer(store, monkeypatch):
    monkeypatch.setattr(publishing, "UNPUBLISHED_CHUNKS", 5)
    with open_writer(store, 0) as opened:
        opened.add_collection("default", FINGERPRINT)
        yield opened


def put(writer, *numbers: int):
    writer.put("default", [version(f"d{number}") for number in numbers])
    return publish_if_due(writer, "default")


def test_the_first_commit_is_published_and_small_ones_after_it_wait(writer):
    assert put(writer, *range(10)).generation == 1
    for number in range(10, 15):
        state = put(writer, number)
        assert (state.generation, state.published_count, state.published_last) == (1, 10, 10)
    assert put(writer, 15).generation == 2
    state = queries.collection(writer.connection, "default")
    assert (state.revision, state.published_revision, state.published_count) == (7, 7, 16)


def test_of_a_large_collection_a_share_may_wait(writer):
    put(writer, *range(100))
    assert put(writer, *range(100, 110)).generation == 1
    assert put(writer, 110).generation == 2


def test_an_index_is_published_anew_when_a_fifth_of_it_is_dead(writer):
    put(writer, *range(20))
    assert put(writer, 0, 1, 2).generation == 1
    writer.delete("default", ["d3"])
    assert publish_if_due(writer, "default").generation == 1
    writer.delete("default", ["d4"])
    assert publish_if_due(writer, "default").generation == 2
    index = read_generation(publishing.vectors_home(writer.folder, "default"), 2, DIMENSION)
    assert (index.count, index.last_id) == (18, 23)


def test_what_waits_is_published_when_it_is_asked_for(writer):
    put(writer, *range(10))
    put(writer, 10)
    assert publish(writer, "default").generation == 2
    assert publish(writer, "default").generation == 2
    assert publish(writer, "default", again=True).generation == 3


def test_nothing_waits_where_nothing_changed(writer):
    put(writer, 1)
    state = queries.collection(writer.connection, "default")
    assert not publishing.is_due(writer.connection, state)


def test_an_ingest_publishes_what_could_wait_where_it_is_told_to(store, settings, tmp_path):
    from indexer.ingesting.ingest import ingest
    from indexer.ingesting.options import IngestOptions

    for number in range(10):
        (tmp_path / f"d{number}.txt").write_text(f"text {number}")
    assert ingest(store, [tmp_path], "default", settings=settings).generation == 1
    (tmp_path / "new.txt").write_text("text new")
    done = ingest(store, [tmp_path], "default", settings=settings, options=IngestOptions(publish=True))
    assert (done.generation, done.revision) == (2, 2)


def test_what_waits_is_searched_beside_the_published(store, settings, tmp_path):
    from indexer.ingesting.ingest import ingest

    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(10):
        (folder / f"d{number}.txt").write_text(f"text {number}")
    first = ingest(store, [folder], "default", settings=settings)
    (folder / "d3.txt").write_text("text changed")
    (folder / "new.txt").write_text("text new")
    second = ingest(store, [folder], "default", settings=settings)
    assert (first.generation, second.generation, second.revision) == (1, 1, 2)
    delete(store, "default", ["d4.txt"], settings)
    with closing(Index.open(store, settings=settings)) as index:
        result = index.search("default", "text", 100)
    texts = sorted(hit.text for hit in result.hits)
    assert texts == sorted([*(f"text {n}" for n in (0, 1, 2, 5, 6, 7, 8, 9)), "text changed", "text new"])
    assert (result.generation, result.revision) == (1, 3)
