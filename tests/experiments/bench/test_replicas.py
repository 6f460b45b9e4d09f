"""What is asked of one and of more replicas, and how they are compared."""

from __future__ import annotations

import click
import pytest

from corpus.schema import Question
from experiments.bench.load import Batch, Outcome
from experiments.bench.replicas import WARM_UP, rows_of, shared_out

QUESTIONS = [Question(id=f"q{number}", question=f"What is {number}?", answers=("x",)) for number in range(48)]


def test_every_load_has_questions_of_its_own():
    shares = shared_out(QUESTIONS, (1, 8), 20)
    asked = [question.id for share in shares.values() for question in share]
    assert {load: len(share) for load, share in shares.items()} == {1: 20, 8: 20, 0: WARM_UP}
    assert len(set(asked)) == len(asked) == 48


def test_more_questions_than_there_are_is_refused_with_how_many_there_are():
    with pytest.raises(click.BadParameter, match="20 questions for each of 2 loads"):
        shared_out(QUESTIONS, (1, 8), 21)


def test_replicas_are_compared_with_the_first_number_on_the_same_questions():
    def batch(seconds):
        return Batch(seconds, (Outcome(200, 100.0),) * 10)

    one, two = (
        {("new", 8): batch(4.0), ("repeated", 8): batch(2.0)},
        {("new", 8): batch(5.0), ("repeated", 8): batch(1.0)},
    )
    rows = rows_of({1: one, 2: two})
    assert [(row.cache, row.replicas, row.per_second, row.ratio) for row in rows] == [
        ("new", 1, 2.5, 1.0),
        ("new", 2, 2.0, 0.8),
        ("repeated", 1, 5.0, 1.0),
        ("repeated", 2, 10.0, 2.0),
    ]
