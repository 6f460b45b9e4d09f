"""Reading while others write: what is current is found, what is gone is not."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from indexer.errors import CollectionNotFound, DocumentNotFound, EmbedderMismatch, PassageNotFound, StoreDamaged
from indexer.index import Index
from indexer.ingesting.deletion import delete
from indexer.ingesting.ingest import ingest
from indexer.publishing import vectors_home
from indexer.search.options import SearchOptions
from indexer.store.lock import writer_lock
from indexer.store.writer import open_writer
from indexer.vectors import INDEX, generation_folder
from tests.indexer.asking import asking
from tests.indexer.conftest import make_tiny_embedder
from tests.indexer.test_vectors import DAMAGES


@pytest.fixture
def add(store, settings, tmp_path):
    """Return a function that ingests texts under the given ids."""

    def add_(**texts: str) -> None:
        path = tmp_path / "documents.jsonl"
        lines = [json.dumps({"id": id_, "text": text}) for id_, text in texts.items()]
        path.write_text("\n".join(lines))
        ingest(store, [path], "default", settings=settings)

    return add_


def found(index: Index, question: str, top_k: int = 10, **options) -> list[str]:
    return [hit.document_id for hit in index.search("default", question, top_k, **options).hits]


def test_the_nearest_passage_comes_first_with_its_cosine(index, add, tiny):
    add(a="the ferry", b="a glass blower", c="zz 99")
    hits = index.search("default", "a glass blower", 3).hits
    assert hits[0].document_id == "b"
    assert hits[0].score == pytest.approx(1, abs=1e-5)
    vectors = tiny.embed_passages([hit.text for hit in hits])
    np.testing.assert_allclose([hit.score for hit in hits], vectors @ tiny.embed_query("a glass blower"), atol=1e-5)


def test_a_new_document_is_found_at_once_by_a_reader_that_is_open(index, add):
    add(a="one")
    assert found(index, "two") == ["a"]
    add(b="two")
    started = time.monotonic()
    assert found(index, "two", 1) == ["b"]
    assert time.monotonic() - started < 1


def test_a_deleted_document_is_never_found_again(index, add, store, settings):
    add(alpha="alpha", beta="beta", gamma="gamma")
    assert delete(store, "default", ["alpha"], settings).revision == 2
    assert found(index, "gamma", 1) == ["gamma"]
    assert sorted(found(index, "alpha")) == ["beta", "gamma"]
    add(delta="delta")
    assert sorted(found(index, "alpha")) == ["beta", "delta", "gamma"]


def test_deleted_and_replaced_chunks_are_not_returned_before_vectors_are_published(index, add, store):
    add(**{f"d{number}": f"text {number}" for number in range(8)})
    index.warm_up()
    with open_writer(store, 0) as writer:
        writer.delete("default", [f"d{number}" for number in range(6)])
        assert sorted(found(index, "text 1", 2)) == ["d6", "d7"]


def test_a_commit_is_found_before_it_is_published(index, add, store, monkeypatch):
    add(a="one")
    index.warm_up()
    monkeypatch.setattr("indexer.ingesting.ingest.publish_if_due", lambda writer, name: None)
    add(b="two", a="one changed")
    assert index.collections() == {"default": 1}
    assert found(index, "two", 1) == ["b"]
    assert [hit.text for hit in index.search("default", "one changed", 2).hits] == ["one changed", "two"]
    monkeypatch.undo()
    add(c="three")
    assert index.collections() == {"default": 2}
    assert sorted(found(index, "three")) == ["a", "b", "c"]


def test_vectors_agree_with_chunks_however_often_a_document_is_added_and_deleted(index, add, store, settings):
    for _ in range(3):
        add(a="first text")
        delete(store, "default", ["a"], settings)
    add(a="last text")
    assert found(index, "last text") == ["a"]
    assert index._snapshots["default"].count == 1


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_set_aside_and_made_again(store, settings, add, damage, capfd):
    add(a="one", b="two")
    folder = generation_folder(vectors_home(store, "default"), 1)
    damage(folder)
    index = Index.open(store, settings=settings)
    assert found(index, "two", 1) == ["b"]
    assert index.collections() == {"default": 2}
    assert "made again" in capfd.readouterr().err
    assert folder.with_name("gen-1.damaged").exists()
    index.close()


def test_a_damaged_index_is_not_needed_while_another_process_writes(store, settings, add, capfd):
    add(a="one", b="two")
    (generation_folder(vectors_home(store, "default"), 1) / INDEX).write_bytes(b"")
    index = Index.open(store, settings=settings)
    with writer_lock(store, 0):
        assert found(index, "two", 1) == ["b"]
        assert found(index, "one", 1) == ["a"]
    assert capfd.readouterr().err.count("cannot be written now") == 1
    add(c="three")
    assert sorted(found(index, "three")) == ["a", "b", "c"]
    index.close()


def test_an_index_that_lacks_chunks_of_the_store_is_damaged(store, settings, add):
    add(a="one", b="two")
    home = vectors_home(store, "default")
    other = vectors_home(store.with_name("other"), "default")
    ingest(store.with_name("other"), [store.with_name("documents.jsonl")], "default", settings=settings)
    delete(store.with_name("other"), "default", ["b"], settings)
    with open_writer(store, 0) as writer:
        writer.point_to("default", 2, 1, 2, 2)
    generation_folder(other, 2).rename(generation_folder(home, 2))
    index = Index.open(store, settings=settings)
    assert found(index, "two", 1) == ["b"]
    index.close()


def test_a_database_that_breaks_while_it_is_read_is_named(store, settings, add):
    add(**{f"d{number}": f"text {number} " * 100 for number in range(50)})
    index = Index.open(store, settings=settings)
    size = (store / "store.db").stat().st_size
    with (store / "store.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(StoreDamaged, match=r"store\.db is damaged"):
        [index.document("default", f"d{number}") for number in range(50)]
    index.close()


def test_documents_can_be_searched_by_id(index, add):
    add(a="one", b="two", c="three")

    def found_among(*ids: str) -> list[str]:
        return found(index, "two", options=SearchOptions(filter={"id": {"in": ids}}))

    assert sorted(found_among("a", "c", "unknown")) == ["a", "c"]
    assert found_among() == []
    assert found_among("unknown") == []


def test_passages_come_in_the_order_asked_and_only_while_they_are_current(index, add):
    add(a="one", b="two")
    ids = [hit.chunk_id for hit in index.search("default", "one", 2).hits]
    assert [hit.chunk_id for hit in index.passages(ids[::-1])] == ids[::-1]
    assert {hit.score for hit in index.passages(ids)} == {1.0}
    add(a="one changed")
    with pytest.raises(PassageNotFound, match="no passage"):
        index.passages(ids)


def test_documents_come_page_by_page(index, add):
    add(**{f"d{number}": f"text {number}" for number in range(5)})
    first = index.documents("default", None, 3)
    second = index.documents("default", first[-1].id, 3)
    assert [row.id for row in (*first, *second)] == [f"d{number}" for number in range(5)]
    assert (first[0].chunk_count, first[0].characters) == (1, 6)
    assert index.count_documents("default") == 5


def test_what_is_not_there_is_named_with_what_is(index, add):
    with pytest.raises(CollectionNotFound, match="store is empty"):
        index.search("default", "x", 1)
    add(handbook="text")
    with pytest.raises(CollectionNotFound, match="Did you mean 'default'"):
        index.search("defalt", "x", 1)
    with pytest.raises(DocumentNotFound, match="Did you mean 'handbook'"):
        index.document("default", "handbok")


def test_another_model_is_refused_at_warm_up(add, store, tmp_path):
    add(a="one")
    other = make_tiny_embedder(tmp_path / "other", seed=1)
    index = Index.open(store, embedder=str(other))
    with pytest.raises(EmbedderMismatch, match="other weights"):
        index.warm_up()
    with pytest.raises(EmbedderMismatch):
        index.search("default", "one", 1)
    index.close()


def test_the_embedder_is_named_without_loading_it(index, add, tiny_path):
    assert index.embedder_name == str(tiny_path)
    add(a="one")
    assert index.embedder_name == str(tiny_path)


def test_every_hit_is_whole_while_one_thread_adds_and_eight_ask(index, add, store):
    add(seed="text seed")
    index.warm_up()

    def wrong() -> list[object]:
        hits = index.search("default", "text of number 7", 5).hits
        return [hit for hit in hits if not hit.text.startswith("text") or hit.document_id not in hit.text]

    with asking(wrong, 8) as problems:
        for round_ in range(10):
            add(**{f"n{number}": f"text of n{number} in round {round_}" for number in range(round_, round_ + 12)})
    assert problems == []


def test_a_reader_opened_before_the_first_ingest_follows_it(store, settings, tmp_path):
    index = Index.open(store, settings=settings)
    assert index.collections() == {}
    path = Path(tmp_path / "a.txt")
    path.write_text("one")
    ingest(store, [path], "default", settings=settings)
    assert index.collections() == {"default": 1}
    assert found(index, "one") == ["a.txt"]
    index.close()


@pytest.mark.parametrize("step", ["write_generation", "point_to", "drop_old_generations"])
def test_a_writer_that_dies_at_any_step_of_publishing_leaves_a_store_that_answers(
    step, index, add, settings, monkeypatch
):
    add(a="one")

    def die(*_) -> None:
        raise KeyboardInterrupt

    place = "indexer.store.writer.StoreWriter" if step == "point_to" else "indexer.publishing.vectors"
    with monkeypatch.context() as patch:
        patch.setattr(f"{place}.{step}", die)
        with pytest.raises(KeyboardInterrupt):
            add(b="two", a="one changed")
    reopened = Index.open(index.folder, settings=settings)
    for reader in (index, reopened):
        hits = reader.search("default", "two", 10).hits
        assert [hit.text for hit in hits] == ["two", "one changed"]
    reopened.close()
    add(c="three")
    assert sorted(found(index, "three")) == ["a", "b", "c"]
