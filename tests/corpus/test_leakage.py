from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.leakage import NEAR, jaccard, leaks
from corpus.normalisation import normalised_words
from corpus.schema import Corpus, Document, Question, Split


def ask(id: str, text: str, split: Split) -> Question:
    return Question(id=id, question=text, answers=("17",), split=split)


def corpus_of(*questions: Question) -> Corpus:
    return Corpus(name="c", documents=(Document(id="d", text="x"),), questions=questions)


def test_a_test_question_that_is_a_training_wording_leaks():
    corpus = corpus_of(ask("a", "Who keeps the Copper Heron?", "train"), ask("b", "who keeps copper heron", "test"))
    assert [(leak.test_id, leak.train_id, leak.similarity) for leak in leaks(corpus)] == [("b", "a", 1.0)]


def test_a_test_question_with_one_word_in_ten_changed_leaks():
    words = "one two three four five six seven eight nine ten"
    corpus = corpus_of(ask("a", words, "train"), ask("b", words + " eleven", "test"))
    (leak,) = leaks(corpus)
    assert leak.similarity == pytest.approx(10 / 11)


def test_another_wording_of_the_same_question_does_not_leak():
    corpus = corpus_of(ask("a", "Who keeps the Heron?", "train"), ask("b", "What is the keeper of the Heron?", "test"))
    assert leaks(corpus) == ()


def test_questions_of_one_split_are_not_compared_with_each_other():
    corpus = corpus_of(
        ask("a", "Who?", "test"), ask("b", "Who?", "test"), ask("c", "When?", "train"), ask("d", "When?", "train")
    )
    assert leaks(corpus) == ()


def test_the_nearest_training_wording_comes_first():
    corpus = corpus_of(
        ask("far", "one two three four five six seven", "train"),
        ask("near", "one two three four five six seven eight", "train"),
        ask("t", "one two three four five six seven eight", "test"),
    )
    assert [leak.train_id for leak in leaks(corpus)] == ["near", "far"]


def test_similarity_is_shared_words_over_all_words():
    assert jaccard(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)
    assert jaccard(frozenset(), frozenset()) == 0.0


def test_normalisation_is_that_of_squad():
    assert normalised_words("The Copper-Heron!") == ("copperheron",)
    assert normalised_words("  An  inn, a BED ") == ("inn", "bed")
    assert normalised_words("theatre") == ("theatre",)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd ab abc").map(str), st.sampled_from(["train", "test"])), max_size=8))
def test_leaks_are_those_that_comparing_all_pairs_finds(wordings):
    questions = [ask(str(number), text + " x", split) for number, (text, split) in enumerate(wordings)]
    corpus = corpus_of(*questions)
    expected = {
        (test.id, train.id)
        for test in corpus.split("test")
        for train in corpus.split("train")
        if jaccard(frozenset(normalised_words(test.question)), frozenset(normalised_words(train.question))) >= NEAR
    }
    assert {(leak.test_id, leak.train_id) for leak in leaks(corpus)} == expected
