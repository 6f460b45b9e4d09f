"""A whole search: what it keeps to, what it says of what it found, and that nobody waits for anybody."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from indexer.index import Index
from indexer.ingesting.deletion import delete
from indexer.search import RETRIEVERS
from indexer.search.currency import all_superseding
from indexer.search.options import SearchOptions
from tests.indexer.asking import asking
from tests.indexer.search.conftest import found

EVERY_RETRIEVER = pytest.mark.parametrize("retriever", RETRIEVERS)


@EVERY_RETRIEVER
def test_passages_of_another_collection_are_never_found(index, add, retriever):
    add(mine="the ferry leaves at six")
    add(collection="other", **{f"foreign{number}": f"the ferry leaves at {number}" for number in range(30)})
    assert found(index, "the ferry leaves at 7", retriever=retriever) == ["mine"]
    assert "mine" not in found(index, "the ferry leaves at six", 50, collection="other", retriever=retriever)


@EVERY_RETRIEVER
def test_a_deleted_document_is_found_by_no_retriever(index, add, store, settings, retriever):
    add(a="alpha UNIQ-7781", b="beta")
    delete(store, "default", ["a"], settings)
    assert "a" not in found(index, "UNIQ-7781", retriever=retriever)
    assert "a" not in found(index, "UNIQ-7781", retriever=retriever, as_of=date(2999, 1, 1))


@EVERY_RETRIEVER
def test_the_past_is_searched_as_it_was(index, add, retriever):
    add({"id": "fee", "text": "the fee is four shells", "effective": "2024-01-01"})
    add({"id": "fee", "text": "the fee is nine shells", "effective": "2025-06-01"})

    def fee(as_of: date | None) -> list[str]:
        options = SearchOptions(retriever=retriever, as_of=as_of)
        return [hit.text for hit in index.search("default", "the fee is", 5, options).hits]

    assert fee(date(2023, 12, 31)) == []
    assert fee(date(2024, 1, 1)) == fee(date(2025, 5, 31)) == ["the fee is four shells"]
    assert fee(date(2025, 6, 1)) == fee(None) == ["the fee is nine shells"]


def test_the_past_can_be_filtered(index, add):
    add({"id": "a", "text": "the fee is four", "effective": "2024-01-01", "metadata": {"team": "mill"}})
    add({"id": "a", "text": "the fee is nine", "effective": "2025-01-01", "metadata": {"team": "harbour"}})
    assert found(index, "fee", as_of=date(2024, 6, 1), filter={"team": "mill"}) == ["a"]
    assert found(index, "fee", as_of=date(2024, 6, 1), filter={"team": "harbour"}) == []
    assert found(index, "fee", filter={"team": "mill"}) == []


def test_a_search_of_the_past_is_exact(index, add, tiny):
    add(*({"id": f"d{number:03}", "text": f"text {number}", "effective": "2024-01-01"} for number in range(120)))
    options = SearchOptions(as_of=date(2024, 1, 1), collapse=False)
    then = index.search("default", "text 7", 20, options).hits
    now = index.search("default", "text 7", 20, SearchOptions(collapse=False)).hits
    assert [hit.chunk_id for hit in then] == [hit.chunk_id for hit in now]
    assert [hit.score for hit in then] == pytest.approx([hit.score for hit in now], abs=1e-5)


OLD = {"id": "old", "text": "the fee is four shells"}
NEW = {"id": "new", "text": "from now on the fee is nine shells", "supersedes": "old", "authority": 3}


def test_what_holds_now_comes_before_what_it_supersedes(index, add):
    add(OLD, {"id": "other", "text": "the ferry zz"})
    assert found(index, "the fee is four shells", 1) == ["old"]
    add(NEW)
    question = "the fee is four shells"
    assert found(index, question, 1) == ["new"]
    assert found(index, question, 3)[:2] == ["new", "old"]
    assert found(index, question, 3, superseded="keep")[0] == "old"
    assert "old" not in found(index, question, 3, superseded="drop")


def test_a_hit_says_what_it_is_and_by_what_it_is_superseded(index, add):
    add(OLD, NEW | {"effective": "2025-02-03", "metadata": {"team": "mill"}})
    new, old = index.search("default", "the fee is four shells", 2).hits
    assert (new.authority, new.effective, new.metadata) == (3, date(2025, 2, 3), {"team": "mill"})
    assert (new.superseded_by, old.superseded_by) == ((), ("new",))


def test_what_supersedes_counts_from_the_day_it_holds(index, add):
    add(OLD | {"effective": "2024-01-01"}, NEW | {"effective": "2025-01-01"})
    assert found(index, "the fee is four shells", as_of=date(2024, 6, 1)) == ["old"]
    assert found(index, "the fee is four shells", as_of=date(2025, 6, 1)) == ["new", "old"]


def test_a_document_in_another_collection_supersedes_nothing(index, add):
    add(OLD)
    add(NEW, collection="other")
    [hit] = index.search("default", "the fee", 5).hits
    assert hit.superseded_by == ()


def test_superseding_goes_on_from_document_to_document():
    chain = {"a": ("b",), "b": ("c", "d")}
    assert all_superseding("a", chain) == {"b", "c", "d"}
    assert all_superseding("c", chain) == set()
    assert all_superseding("a", {"a": ("b",), "b": ("a",)}) == set()


def test_the_newest_of_a_chain_comes_first_though_the_middle_was_not_found(index, add):
    add(
        {"id": "a", "text": "fee four"},
        {"id": "b", "text": "zz qq 99", "supersedes": "a"},
        {"id": "c", "text": "fee nine", "supersedes": "b"},
    )
    order = found(index, "fee four", 3)
    assert order.index("c") < order.index("a")


@EVERY_RETRIEVER
def test_below_the_threshold_nothing_is_returned_and_the_reason_is_said(index, add, retriever):
    add(a="the ferry leaves at six", b="the mill is closed")
    options = SearchOptions(retriever=retriever, min_score=1.01)
    result = index.search("default", "the ferry", 5, options)
    assert (result.hits, result.reason, result.min_score) == ((), "below_threshold", 1.01)


@EVERY_RETRIEVER
def test_the_threshold_is_a_cosine_whatever_the_retriever(index, add, tiny, retriever):
    texts = {f"d{number}": f"the ferry number {number}" for number in range(8)} | {"z": "qq 99 zz the"}
    add(**texts)
    question = "the ferry number 3"
    cosines = dict(zip(texts, tiny.embed_passages(list(texts.values())) @ tiny.embed_query(question), strict=True))
    threshold = float(sorted(cosines.values())[4]) + 1e-4
    options = SearchOptions(retriever=retriever, min_score=threshold, collapse=False)
    hits = index.search("default", question, 20, options).hits
    assert {hit.document_id for hit in hits} == {id_ for id_, cosine in cosines.items() if cosine >= threshold}
    assert all(hit.similarity == pytest.approx(float(cosines[hit.document_id]), abs=1e-5) for hit in hits)


def test_an_empty_collection_says_so(index, add, store, settings):
    add(a="one")
    delete(store, "default", ["a"], settings)
    for retriever in RETRIEVERS:
        result = index.search("default", "one", 5, SearchOptions(retriever=retriever))
        assert (result.hits, result.reason) == ((), "empty_collection")


def test_twenty_searches_are_under_way_at_once(index, add, monkeypatch):
    add(a="one", b="two")
    index.warm_up()
    barrier = threading.Barrier(20, timeout=20)
    dense = RETRIEVERS["dense"]

    def wait_for_all(asked, wanted):
        barrier.wait()
        return dense(asked, wanted)

    monkeypatch.setitem(RETRIEVERS, "dense", wait_for_all)
    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(lambda number: index.search("default", f"one {number}", 1), range(20)))
    assert all(len(result.hits) == 1 for result in results)


@EVERY_RETRIEVER
def test_every_hit_is_whole_while_documents_come_and_go(store, settings, add, retriever):
    add(seed="text seed")
    index = Index.open(store, settings=settings)
    options = SearchOptions(retriever=retriever)

    def wrong() -> list[object]:
        hits = index.search("default", "text of number 7", 5, options).hits
        return [hit for hit in hits if not hit.text.startswith("text") or hit.document_id not in hit.text]

    with asking(wrong, 4) as problems:
        for round_ in range(4):
            add(**{f"n{number}": f"text of n{number} in round {round_}" for number in range(round_, round_ + 12)})
            delete(store, "default", [f"n{round_}"], settings)
    index.close()
    assert problems == []
