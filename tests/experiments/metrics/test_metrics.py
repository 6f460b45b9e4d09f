"""The answer metrics against SQuAD's published procedure, written here a second time, and against hand arithmetic."""

from __future__ import annotations

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.errors import SpecError
from experiments.metrics import METRICS
from experiments.metrics.contains_answer import CONTAINS_ANSWER
from experiments.metrics.exact_match import EXACT_MATCH
from experiments.metrics.normalisation import tokens
from experiments.metrics.retrieval_recall import RETRIEVAL_RECALL
from experiments.metrics.token_f1 import TOKEN_F1
from tests.experiments.answers import a_question, an_answer

WORDS = st.lists(
    st.sampled_from(["the", "A", "Ida", "Brook", "7", "17", "guild.", "ferry-man", "O'Dea", "!"]), max_size=6
)
TEXT = st.one_of(WORDS.map(" ".join), st.text(max_size=20))


def squad_normalised(text: str) -> str:
    """Normalise as the evaluation script of SQuAD 1.1 is published to do, character by character."""
    kept = "".join(character for character in text.lower() if character not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def squad_f1(prediction: str, gold: str) -> float:
    predicted, expected = squad_normalised(prediction).split(), squad_normalised(gold).split()
    overlap = sum((Counter(predicted) & Counter(expected)).values())
    if overlap == 0:
        return 0.0
    precision, recall = overlap / len(predicted), overlap / len(expected)
    return 2 * precision * recall / (precision + recall)


scorable = st.lists(TEXT.filter(squad_normalised), min_size=1, max_size=3)


@given(TEXT)
def test_normalisation_is_that_of_squad(text):
    assert " ".join(tokens(text)) == squad_normalised(text)


@given(TEXT, scorable)
def test_exact_match_and_f1_are_those_of_squad(prediction, golds):
    question = a_question(*golds)
    normalised = squad_normalised(prediction)
    assert EXACT_MATCH.score(an_answer(prediction), question) == max(normalised == squad_normalised(g) for g in golds)
    assert TOKEN_F1.score(an_answer(prediction), question) == pytest.approx(max(squad_f1(prediction, g) for g in golds))


@given(TEXT, scorable)
def test_contains_is_the_gold_words_in_a_row(prediction, golds):
    padded = f" {squad_normalised(prediction)} "
    expected = any(f" {squad_normalised(gold)} " in padded for gold in golds)
    assert CONTAINS_ANSWER.score(an_answer(prediction), a_question(*golds)) == expected


@given(TEXT, scorable)
def test_exact_match_is_at_most_contains_and_at_most_f1(prediction, golds):
    answer, question = an_answer(prediction), a_question(*golds)
    exact, contains, f1 = (metric.score(answer, question) for metric in (EXACT_MATCH, CONTAINS_ANSWER, TOKEN_F1))
    assert 0 <= exact <= contains <= 1
    assert exact <= f1 <= 1


@given(TEXT.filter(squad_normalised), TEXT.filter(squad_normalised))
def test_f1_is_symmetric(one, other):
    forth = TOKEN_F1.score(an_answer(one), a_question(other))
    assert forth == pytest.approx(TOKEN_F1.score(an_answer(other), a_question(one)))


def test_f1_by_hand():
    # 2 of 3 words are right, 2 of 2 are said: p = 2/3, r = 1, F1 = 2 · (2/3) / (5/3) = 0.8.
    assert TOKEN_F1.score(an_answer("captain Ida Brook"), a_question("Ida Brook")) == pytest.approx(0.8)


def test_a_number_is_not_found_inside_a_longer_one():
    assert CONTAINS_ANSWER.score(an_answer("in 17 days"), a_question("7")) == 0
    assert CONTAINS_ANSWER.score(an_answer("7 crowns"), a_question("7")) == 1


def test_the_best_accepted_spelling_counts():
    assert EXACT_MATCH.score(an_answer("Brook"), a_question("Ida Brook", "Brook")) == 1


@pytest.mark.parametrize("gold", ["The", "?!", " ", "a."])
def test_an_accepted_answer_of_which_nothing_is_left_is_refused(gold):
    with pytest.raises(SpecError, match="nothing is left"):
        CONTAINS_ANSWER.score(an_answer("anything"), a_question(gold))


def test_an_empty_answer_scores_nothing():
    for metric in (EXACT_MATCH, CONTAINS_ANSWER, TOKEN_F1):
        assert metric.score(an_answer(""), a_question("Ida")) == 0


def test_recall_asks_whether_an_evidence_document_was_found():
    question = a_question("Ida", document_ids=("b.md", "c.md"))
    assert RETRIEVAL_RECALL.score(an_answer("", ("a.md", "b.md")), question) == 1
    assert RETRIEVAL_RECALL.score(an_answer("", ("a.md",)), question) == 0


def test_recall_does_not_apply_without_passages_or_without_evidence():
    assert RETRIEVAL_RECALL.score(an_answer(""), a_question("Ida", document_ids=("b.md",))) is None
    assert RETRIEVAL_RECALL.score(an_answer("", ("a.md",)), a_question("Ida")) is None


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_of_the_table_knows_its_name_and_stays_between_0_and_1(name):
    metric = METRICS[name]
    question = a_question("Ida", document_ids=("a.md",))
    values = [metric.score(an_answer(text, ("a.md",)), question) for text in ("Ida", "I think Ida", "", "no")]
    assert metric.name == name
    assert metric.label
    assert all(0 <= value <= 1 for value in values)
