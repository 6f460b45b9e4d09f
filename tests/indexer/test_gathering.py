from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from indexer.embedding import Embedder
from indexer.embedding.gathering import Gatherer, Rows


class Slow:
    """An embedding function that takes its time and remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def __call__(self, texts: list[str]) -> Rows:
        self.batches.append(texts)
        time.sleep(0.02)
        if "bad" in texts:
            raise ValueError("bad text")
        return np.array([[len(text), ord(text[0])] for text in texts])


def test_questions_that_wait_together_are_embedded_together() -> None:
    slow = Slow()
    gatherer = Gatherer(slow, largest_batch=8)
    texts = [chr(97 + number) * (number + 1) for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        rows = list(pool.map(gatherer.embed, texts))
    assert [row.tolist() for row in rows] == [[len(text), ord(text[0])] for text in texts]
    assert sorted(text for batch in slow.batches for text in batch) == sorted(texts)
    assert max(map(len, slow.batches)) <= 8
    assert len(slow.batches) < 8


def test_a_single_question_waits_for_nobody() -> None:
    slow = Slow()
    assert Gatherer(slow, 8).embed("abc").tolist() == [3, 97]
    assert slow.batches == [["abc"]]


def test_an_error_reaches_its_batch_and_no_later_one() -> None:
    gatherer = Gatherer(Slow(), 8)
    with pytest.raises(ValueError, match="bad text"):
        gatherer.embed("bad")
    assert gatherer.embed("good").tolist() == [4, 103]


def test_a_question_gets_the_same_vector_alone_and_among_others(packaged: Embedder) -> None:
    questions = [f"Who is warden number {number} of the {'very ' * number}old guild?" for number in range(24)]
    alone = [packaged.embed_query(question) for question in questions]
    barrier = threading.Barrier(24)

    def together(question: str) -> Rows:
        barrier.wait()
        return packaged.embed_query(question)

    with ThreadPoolExecutor(24) as pool:
        for first, second in zip(alone, pool.map(together, questions), strict=True):
            np.testing.assert_allclose(first, second, atol=1e-6)
