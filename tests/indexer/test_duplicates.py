"""Near duplicates: alike is found, different is not, and looking costs little."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.schema import Document
from indexer.embedding.fingerprint import Fingerprint
from indexer.ingesting.duplicates import BANDS, PERMUTATIONS, NearDuplicates, signature, similarity
from indexer.store.records import NewVersion
from indexer.store.writer import open_writer

VOCABULARY = [f"word{number}" for number in range(2000)]


def words(random_: random.Random, count: int = 200) -> list[str]:
    return random_.choices(VOCABULARY, k=count)


@pytest.fixture
def writer(store):
    with open_writer(store, 0) as opened:
        opened.add_collection("default", Fingerprint("tiny", 3, 64, "", "", b""))
        yield opened


def put(writer, **texts: str) -> None:
    versions = [
        NewVersion(Document(id=id_, text=text), id_, id_, "1", (), signature(text)) for id_, text in texts.items()
    ]
    writer.put("default", versions)


def found(near: NearDuplicates, **texts: str) -> list:
    return near.find([(id_, signature(text)) for id_, text in texts.items()])


def test_a_copy_with_a_few_other_words_is_found_and_another_text_is_not(writer):
    random_ = random.Random(1)
    original = words(random_)
    put(writer, original=" ".join(original), other=" ".join(words(random_)))
    copy = [*original]
    copy[70] = "changed"
    near = NearDuplicates(writer.connection, "default")
    same, none = found(near, copy=" ".join(copy), third=" ".join(words(random_)))
    assert (same.id, none) == ("original", None)
    assert 0.8 <= same.similarity <= 1


def test_a_document_of_the_same_batch_is_found_and_so_is_one_that_was_committed_later(writer):
    text = " ".join(words(random.Random(2)))
    near = NearDuplicates(writer.connection, "default")
    assert [one and one.id for one in found(near, first=text, second=text.upper())] == [None, "first"]
    put(writer, first=text)
    assert found(near, third=text)[0].id == "first"


def test_a_document_is_no_duplicate_of_its_own_former_version_or_of_a_deleted_one(writer):
    text = " ".join(words(random.Random(3)))
    put(writer, a=text)
    near = NearDuplicates(writer.connection, "default")
    assert found(near, a=text) == [None]
    writer.delete("default", ["a"])
    assert found(near, b=text) == [None]


def test_a_text_of_few_words_has_no_signature_and_one_without_spaces_has_one():
    assert signature("") is None
    assert signature("the ferry costs four shells") is None
    assert signature("床前明月光疑是地上霜举头望明月") is not None
    assert len(signature(" ".join(VOCABULARY))) == 4 * PERMUTATIONS


@given(st.integers(0, 150))
def test_the_estimate_is_near_the_share_of_common_runs(changed):
    random_ = random.Random(changed)
    one = words(random_)
    other = one[: 200 - changed] + words(random_, changed)
    runs = [{tuple(text[at : at + 3]) for at in range(198)} for text in (one, other)]
    share = len(runs[0] & runs[1]) / len(runs[0] | runs[1])
    assert similarity(signature(" ".join(one)), signature(" ".join(other))) == pytest.approx(share, abs=0.3)


def test_a_thousand_copies_of_one_text_are_found_in_time_that_grows_with_their_number(writer):
    text = " ".join(words(random.Random(4)))
    signed = signature(text)
    writer.put("default", [NewVersion(Document(id=f"d{n}", text="x"), "", "", "1", (), signed) for n in range(1000)])
    near = NearDuplicates(writer.connection, "default")
    near.find([("first", signed)])
    started = time.monotonic()
    assert all(near.find([(f"e{number}", signed) for number in range(1000)]))
    assert time.monotonic() - started < 3


def test_what_is_kept_in_memory_for_each_document_is_two_numbers_a_band(writer):
    random_ = random.Random(5)
    put(writer, **{f"d{number}": " ".join(words(random_, 20)) for number in range(200)})
    near = NearDuplicates(writer.connection, "default")
    near.find([])
    kept = near._sorted
    assert kept.keys.nbytes + kept.owners.nbytes + near._recent.keys.nbytes == 200 * BANDS * 16
