"""What is true of every kind of vector index, seen from the store: nothing deleted, nothing lost, nothing half."""

from __future__ import annotations

import json

import pytest

from indexer.index import Index
from indexer.ingesting.deletion import delete
from indexer.ingesting.ingest import ingest
from indexer.publishing import publish, vectors_home
from indexer.search.options import SearchOptions
from indexer.store.live import LiveVectors
from indexer.store.writer import open_writer
from indexer.vectors import INDEX, generation_folder, read_manifest
from tests.indexer.asking import asking
from tests.indexer.conftest import TINY_DIMENSION


@pytest.fixture(params=["exact", "lists"])
def kind(request, monkeypatch) -> str:
    """Let every collection of the test have this kind of index, however small it is."""
    monkeypatch.setenv("OPENBOOK_EXACT_VECTORS", "50000" if request.param == "exact" else "0")
    return request.param


@pytest.fixture
def add(store, settings, tmp_path, kind):
    """Return a function that ingests texts under the given ids."""

    def add_(**texts: str) -> None:
        path = tmp_path / "documents.jsonl"
        path.write_text("\n".join(json.dumps({"id": id_, "text": text}) for id_, text in texts.items()))
        ingest(store, [path], "default", settings=settings)

    return add_


def found(index: Index, question: str, top_k: int = 10, among: list[str] | None = None) -> list[str]:
    options = SearchOptions(collapse=False, filter=None if among is None else {"id": {"in": among}})
    return [hit.document_id for hit in index.search("default", question, top_k, options).hits]


def published_kind(store) -> str:
    with open_writer(store, 0) as writer:
        (generation,) = writer.connection.execute("SELECT generation FROM collections").fetchone()
    return "exact" if read_manifest(vectors_home(store, "default"), generation).probes is None else "lists"


def test_after_a_delete_every_question_still_finds_its_own_text(index, add, store, settings, kind):
    add(alpha="alpha", beta="beta", gamma="gamma")
    assert published_kind(store) == kind
    delete(store, "default", ["alpha"], settings)
    assert found(index, "gamma", 1) == ["gamma"]
    assert [hit.text for hit in index.search("default", "gamma", 1).hits] == ["gamma"]
    assert sorted(found(index, "alpha")) == ["beta", "gamma"]


def test_a_deleted_passage_is_gone_before_vectors_are_published_again(index, add, store):
    add(**{f"d{number}": f"text {number}" for number in range(40)})
    index.warm_up()
    with open_writer(store, 0) as writer:
        writer.delete("default", [f"d{number}" for number in range(38)])
        assert sorted(found(index, "text 1", 2)) == ["d38", "d39"]
        assert found(index, "text 1", 2, among=["d1", "d39"]) == ["d39"]


def test_an_emptied_index_is_made_again_and_never_served_empty(add, store, settings, kind, capfd):
    add(**{f"d{number}": f"text {number}" for number in range(5)})
    (generation_folder(vectors_home(store, "default"), 1) / INDEX).write_bytes(b"")
    index = Index.open(store, settings=settings)
    assert len(found(index, "text 1")) == 5
    assert "made again" in capfd.readouterr().err
    assert published_kind(store) == kind
    index.close()


def test_eight_readers_see_whole_passages_while_generations_come_and_go(index, add, store, settings, tmp_path):
    add(**{f"d{number}": f"MARKER {number}" for number in range(30)})
    index.warm_up()

    def wrong() -> list[object]:
        hits = index.search("default", "MARKER 7", 5).hits
        return [] if len(hits) == 5 and all("MARKER" in hit.text for hit in hits) else [hits]

    with asking(wrong, 8) as faults:
        for round_ in range(6):
            add(**{f"e{round_}-{number}": f"MARKER {round_} {number}" for number in range(10)})
            delete(store, "default", [f"d{round_}"], settings)
    assert faults == []
    assert len(found(index, "MARKER", 200)) == 30 + 60 - 6


def test_a_filter_over_documents_finds_them_alone(index, add):
    add(**{f"d{number}": f"text {number}" for number in range(60)})
    assert sorted(found(index, "text 1", 10, among=["d3", "d50"])) == ["d3", "d50"]
    assert found(index, "text 1", 10, among=[]) == []


def test_recent_chunks_are_read_once_and_joined_when_they_are_many(index, add, store, monkeypatch):
    monkeypatch.setattr("indexer.ingesting.ingest.publish_if_due", lambda writer, name: None)
    read = []
    blocks = LiveVectors.__iter__

    def counted(self):
        for ids, vectors in blocks(self):
            read.extend(ids.tolist())
            yield ids, vectors

    monkeypatch.setattr(LiveVectors, "__iter__", counted)
    for number in range(8):
        add(**{f"d{number}": f"text {number}"})
        assert len(found(index, "text 1")) == number + 1
    assert read == list(range(1, 9))
    add(last="the last text")
    assert found(index, "the last text", 1) == ["last"]
    assert len(found(index, "text 1")) == 9
    assert len(index._snapshots["default"].recent) == 1
    assert index._snapshots["default"].recent[0].dimension == TINY_DIMENSION


def test_what_changed_is_put_into_the_published_index_and_nothing_else_is_read(index, add, store, kind, monkeypatch):
    add(**{f"d{number}": f"text {number}" for number in range(40)})
    read = []
    blocks = LiveVectors.__iter__

    def counted(self):
        for ids, vectors in blocks(self):
            read.extend(ids.tolist())
            yield ids, vectors

    monkeypatch.setattr(LiveVectors, "__iter__", counted)
    add(new="something new", d3="text three")
    with open_writer(store, 0) as writer:
        assert publish(writer, "default").generation == 2
    assert sorted(set(read)) == ([41, 42] if kind == "lists" else [*range(1, 4), *range(5, 43)])
    assert published_kind(store) == kind
    assert found(index, "something new", 1) == ["new"]
    assert [hit.text for hit in index.search("default", "text three", 1).hits] == ["text three"]
    assert len(found(index, "text", 100)) == 41


def test_an_ingest_says_which_kind_of_index_there_is(store, settings, tmp_path, kind):
    (tmp_path / "a.md").write_text("one text")
    index = ingest(store, [tmp_path / "a.md"], "default", settings=settings).index
    assert index == "exact vectors" if kind == "exact" else "1 lists of 8-bit vectors" in index


def test_a_long_ingest_publishes_on_its_way(store, settings, tmp_path, kind, monkeypatch):
    monkeypatch.setattr("indexer.ingesting.ingest.GROUP_DOCUMENTS", 5)
    monkeypatch.setattr("indexer.ingesting.ingest.PUBLISH_CHUNKS", 10)
    monkeypatch.setattr("indexer.publishing.UNPUBLISHED_CHUNKS", 8)
    lines = [json.dumps({"id": f"d{number}", "text": f"text {number}"}) for number in range(43)]
    (tmp_path / "documents.jsonl").write_text("\n".join(lines))
    summary = ingest(store, [tmp_path / "documents.jsonl"], "default", settings=settings)
    assert (summary.generation, summary.added) == (4, 43)
    assert published_kind(store) == kind
