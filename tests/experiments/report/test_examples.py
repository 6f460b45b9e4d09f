from __future__ import annotations

from collections import Counter
from pathlib import Path

from experiments.records import AnswerRecord, ScoreRecord
from experiments.report.arms import describe_arms, primary_contrast
from experiments.report.examples import Example, choose_examples, choose_forgotten
from experiments.report.inputs import read_inputs
from tests.experiments.report.sample_run import RIGHT, sample_questions, write_sample


def examples(run: Path) -> tuple[Example, ...]:
    inputs = read_inputs(run)
    return choose_examples(inputs, describe_arms(inputs.results), primary_contrast(inputs.results))


def test_up_to_two_questions_of_each_kind_are_shown_and_none_twice(run: Path) -> None:
    chosen = examples(run)
    kinds = Counter(each.kind for each in chosen)
    assert kinds == {"rag right, ft wrong": 2, "ft right, rag wrong": 2, "Search missed the passage": 2}
    assert len({each.question.id for each in chosen}) == len(chosen)


def test_an_example_is_of_its_kind(run: Path) -> None:
    numbers = {question.id: number for number, question in enumerate(sample_questions())}
    for each in examples(run):
        number, outcome = numbers[each.question.id], {answer.arm: answer.outcome for answer in each.answers}
        assert outcome == {arm: "right" if right(number) else "wrong" for arm, right in RIGHT.items()}
        if each.kind == "rag right, ft wrong":
            assert (outcome["rag"], outcome["ft"]) == ("right", "wrong")
        if each.kind == "Search missed the passage":
            assert number % 10 == 3


def test_the_choice_does_not_depend_on_the_order_of_the_records(run: Path) -> None:
    chosen = [each.question.id for each in examples(run)]
    for name in ("answers.jsonl", "scores.jsonl", "corpora/main/questions.jsonl"):
        lines = (run / name).read_text(encoding="utf-8").splitlines()
        (run / name).write_text("\n".join(reversed(lines)), encoding="utf-8")
    assert [each.question.id for each in examples(run)] == chosen


def test_passages_that_several_arms_share_are_shown_once(run: Path) -> None:
    for each in examples(run):
        assert [shown.arms for shown in each.shown] == [("oracle",), ("rag", "ft_rag"), ("wrong_corpus",)]


def test_a_question_that_every_arm_got_wrong_is_shown_as_such(tmp_path: Path) -> None:
    write_sample(tmp_path, arms=("closed_book", "ft"))
    kinds = Counter(each.kind for each in examples(tmp_path))
    assert kinds == {"Every arm wrong": 2}


def test_an_unanswered_question_shows_the_reason(run: Path) -> None:
    question = examples(run)[0].question.id
    refused = AnswerRecord(arm="ft_rag", set="test", question_id=question, answer=None, error="The engine timed out.")
    unscored = ScoreRecord(arm="ft_rag", set="test", question_id=question, scores=None)
    for name, record in (("answers.jsonl", refused), ("scores.jsonl", unscored)):
        with (run / name).open("a", encoding="utf-8") as file:
            file.write(record.model_dump_json() + "\n")
    shown = {answer.arm: answer for answer in examples(run)[0].answers}
    assert (shown["ft_rag"].outcome, shown["ft_rag"].text) == ("unscored", "The engine timed out.")


def test_forgotten_questions_were_right_before_and_wrong_after(run: Path) -> None:
    forgotten = choose_forgotten(read_inputs(run))
    assert len(forgotten) == 5
    assert all(each.after == "lamp oil" for each in forgotten)
    assert ("What is the capital of France?", "Paris") in {(each.question, each.before) for each in forgotten}


def test_without_fine_tuning_nothing_is_forgotten(tmp_path: Path) -> None:
    write_sample(tmp_path, arms=("closed_book", "rag"))
    assert choose_forgotten(read_inputs(tmp_path)) == ()
