"""The ways of answering that are measured, and what is said of them."""

from __future__ import annotations

import shlex

import pytest

from app.settings import Settings
from corpus.schema import Question
from experiments.bench.goodput import load
from experiments.bench.load import Batch, Outcome
from experiments.bench.measured_way import Asked, row, verdict
from experiments.bench.ways import EXTRA, PLAIN_ENGINE, TUNED_ENGINE, WAYS, by_engine, chosen
from experiments.results import Estimate

QUESTIONS = tuple(
    Question(id=f"q{number}", question=f"What is {number}?", answers=("x",), document_ids=(f"d{number // 4}",))
    for number in range(80)
)


@pytest.mark.parametrize("way", [*WAYS.values(), *EXTRA.values()], ids=lambda way: way.name)
def test_a_way_differs_from_the_one_it_is_measured_against_in_what_it_says(way):
    other = {**WAYS, **EXTRA}.get(way.against)
    request = way.call(QUESTIONS[0]).body
    assert request["question"] == QUESTIONS[0].question
    if other is None:
        assert way.name == "plain"
    elif way.same_prompts:
        assert way.engine != other.engine
        assert request == other.call(QUESTIONS[0]).body
    else:
        assert (way.engine, request) != (other.engine, other.call(QUESTIONS[0]).body)


def test_engines_are_told_in_the_words_of_openbook_serve(monkeypatch):
    for name, value in EXTRA["guessing"].engine.environment().items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.preload_openmp
    assert settings.engine_args[:3] == ("--block-size", "32", "--speculative-config")
    assert shlex.join(settings.engine_args).count("ngram") == 1
    assert "VLLM_CPU_OMP_THREADS_BIND" not in TUNED_ENGINE.environment()
    assert PLAIN_ENGINE.environment()["VLLM_CPU_OMP_THREADS_BIND"] == "auto"


def test_one_way_brings_those_it_is_compared_with():
    assert [way.name for way in chosen(["top-1"])] == ["plain", "tuned", "top-1"]
    assert [way.name for way in chosen([])] == list(WAYS)


def test_each_engine_is_started_once():
    engines = [engine for engine, _ in by_engine(chosen([]))]
    assert len(engines) == len(set(engines)) == 6
    assert sum(len(ways) for _, ways in by_engine(chosen([]))) == len(WAYS)


def asked(name, seconds, right, questions=QUESTIONS):
    outcome = Outcome(200, 100.0, reply={"usage": {"prompt_tokens": 50}})
    batches = tuple(Batch(second, (outcome,) * 4) for second in seconds)
    return Asked(WAYS[name], batches, batches[0], dict(zip([each.id for each in questions], right, strict=False)))


def test_speed_is_compared_on_the_blocks_that_both_were_asked():
    plain = asked("plain", [2.0, 9.0, 9.0], [1.0] * 80)
    cores = asked("cores", [1.0], [1.0] * 27)
    compared = row(cores, plain, plain, {question.id: question.id for question in QUESTIONS})
    assert compared.ratio == compared.times_plain == pytest.approx(2.0)
    assert compared.per_second == pytest.approx(4.0)
    assert (compared.questions, compared.prompt_tokens) == (27, 50)
    assert compared.difference.value == 0


def test_accuracy_is_compared_question_by_question():
    plain, top_1 = asked("plain", [1.0], [1.0, 0.0] * 40), asked("top-1", [1.0], [1.0] * 80)
    compared = row(top_1, plain, plain, {question.id: question.id for question in QUESTIONS})
    assert compared.difference.value == pytest.approx(0.5)
    assert compared.accuracy.value == 1
    assert compared.verdict == "better"


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(0.01, 0.1, "better"), (-0.05, 0.1, "as accurate"), (-0.06, 0.1, "open"), (-0.2, -0.01, "worse")],
)
def test_as_accurate_means_that_at_most_the_margin_can_have_been_lost(low, high, word):
    assert verdict(Estimate(value=(low + high) / 2, low=low, high=high), margin=0.05) == word


def test_different_questions_come_once_each_and_repeated_subjects_often():
    different = load("different", QUESTIONS, capacity=2.0, share=1.5, seconds=20)
    assert len(set(different.questions)) == len(different.questions) == len(different.moments) > 30
    repeated = load("repeated", QUESTIONS, capacity=2.0, share=1.5, seconds=20)
    assert repeated.moments == different.moments
    subjects = [question.document_ids for question in repeated.questions]
    assert max(map(subjects.count, subjects)) > 2 * len(subjects) / len({each.document_ids for each in QUESTIONS})


def test_a_load_of_different_questions_ends_with_them():
    short = load("different", QUESTIONS, capacity=100.0, share=1.0, seconds=20)
    assert len(short.questions) == len(QUESTIONS)
    assert short.seconds == short.moments[-1] < 2
