"""A whole run over HTTP, stopped and taken up again in every way that happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from corpus.errors import UsageError
from experiments.errors import GateFailed, RunLocked, ServerFailed, SpecError
from experiments.records import AnswerRecord
from experiments.results import Estimate
from experiments.run_folder import RunFolder
from experiments.start import finetune_experiment, run_experiment
from tests.experiments.conftest import BASE_ARMS, SPEC

ARTEFACTS = ("scores.jsonl", "results.json", "report.html", "report.md")


def lines_of(folder: RunFolder) -> list[AnswerRecord]:
    return [AnswerRecord.model_validate_json(line) for line in folder.answers.read_text("utf-8").splitlines()]


def bytes_of(folder: RunFolder) -> dict[str, bytes]:
    return {name: (folder.path / name).read_bytes() for name in ARTEFACTS}


def test_every_arm_answers_every_question_and_the_results_say_how_well(openbook, write_spec, tmp_path):
    finished = run_experiment(str(write_spec(SPEC)), tmp_path / "runs", commands=openbook)
    results = finished.results
    accuracy = {name: arm.metrics["contains_answer"].value for name, arm in results.arms.items()}
    assert accuracy == {"closed_book": 0, "rag": 1, "oracle": 1, "wrong_corpus": 0, "ft": 1, "ft_rag": 1}
    assert {arm.n for arm in results.arms.values()} == {arm.scored for arm in results.arms.values()} == {6}
    assert all(gate.passed for gate in results.gates), results.gates
    assert results.arms["ft"].checkpoint == openbook.trained[0]
    assert results.arms["ft"].cost.training_seconds == 60
    assert results.contrasts[0].primary
    assert (results.contrasts[0].a, results.contrasts[0].b) == ("rag", "ft")
    before = results.trials["forgetting"].measured["before"]
    assert isinstance(before, Estimate)
    assert all((finished.folder.path / name).exists() for name in ARTEFACTS)


def test_a_document_of_the_same_name_in_the_other_corpus_is_no_evidence(openbook, write_spec, tmp_path):
    spec = SPEC.replace("{world: {seed: 11, documents: 3}}", "{path: village}")
    finished = run_experiment(str(write_spec(spec)), tmp_path / "runs", commands=openbook)
    assert finished.results.arms["wrong_corpus"].metrics["retrieval_recall"].value == 0
    assert finished.results.arms["rag"].metrics["retrieval_recall"].value == 1


def test_index_and_training_set_are_proved_to_hold_the_same_documents(openbook, write_spec, tmp_path):
    finished = run_experiment(str(write_spec(SPEC)), tmp_path / "runs", commands=openbook)
    state = finished.folder.read_state()
    assert state.index_hash == state.finetuned.documents_hash == finished.results.corpus.hash


def test_a_finished_run_is_scored_again_without_starting_anything(openbook, write_spec, tmp_path):
    spec = str(write_spec(SPEC))
    first = run_experiment(spec, tmp_path / "runs", commands=openbook)
    before, served = bytes_of(first.folder), list(openbook.served)
    again = run_experiment(spec, tmp_path / "runs", commands=openbook)
    assert openbook.served == served
    assert bytes_of(again.folder) == before


def test_another_price_is_worked_out_without_asking_again(openbook, write_spec, tmp_path):
    first = run_experiment(str(write_spec(BASE_ARMS)), tmp_path / "runs", commands=openbook)
    dearer = run_experiment(
        str(write_spec(f"{BASE_ARMS}price: {{currency: EUR, per_hour: 3600}}\n")), tmp_path / "runs", commands=openbook
    )
    assert dearer.folder.path == first.folder.path
    assert openbook.served == ["base@1"]
    cost = dearer.results.arms["rag"].cost
    assert cost.money_per_1000_questions == pytest.approx(cost.seconds_per_1000_questions, rel=1e-3)


def test_other_questions_make_another_run(openbook, write_spec, tmp_path):
    first = run_experiment(str(write_spec(BASE_ARMS)), tmp_path / "runs", commands=openbook)
    other = run_experiment(
        str(write_spec(f"{BASE_ARMS}questions: {{limit: 3}}\n")), tmp_path / "runs", commands=openbook
    )
    assert other.folder.path != first.folder.path
    assert other.results.arms["rag"].n == 3


def test_no_more_questions_are_under_way_than_the_concurrency_allows(openbook, write_spec, tmp_path):
    openbook.seconds = 0.02
    run_experiment(str(write_spec(BASE_ARMS)), tmp_path / "runs", commands=openbook)
    assert 2 <= openbook.most_at_once <= 4


def test_an_engine_that_dies_stops_the_run_and_the_next_one_asks_only_what_is_left(openbook, write_spec, tmp_path):
    spec = str(write_spec(SPEC))
    openbook.die_after = 12
    with pytest.raises(ServerFailed, match="not ready any more"):
        run_experiment(spec, tmp_path / "runs", commands=openbook)
    openbook.die_after = None
    finished = run_experiment(spec, tmp_path / "runs", commands=openbook)
    records = lines_of(finished.folder)
    assert all(record.answer is not None for record in records)
    pairs = [(record.set, record.arm, record.question_id) for record in records]
    assert len(pairs) == len(set(pairs)) == (6 + 2) * 6 + 2 * len(finished.folder.read_corpus("panel").questions)
    assert openbook.ingested == ["main", "other"]


def test_a_torn_last_line_is_asked_again_and_a_finished_arm_is_not(openbook, write_spec, tmp_path):
    spec = str(write_spec(BASE_ARMS))
    first = run_experiment(spec, tmp_path / "runs", commands=openbook)
    whole = first.folder.answers.read_bytes()
    first.folder.answers.write_bytes(whole[:-40])
    openbook.asked.clear()
    run_experiment(spec, tmp_path / "runs", commands=openbook)
    records = lines_of(first.folder)
    assert len([record for record in records if record.set == "test"]) == 12
    asked = [question for _, question in openbook.asked if question != "Is everything ready?"]
    assert len(asked) == 1


def test_a_damaged_line_in_the_middle_is_named(openbook, write_spec, tmp_path):
    spec = str(write_spec(BASE_ARMS))
    first = run_experiment(spec, tmp_path / "runs", commands=openbook)
    lines = first.folder.answers.read_text("utf-8").splitlines(keepends=True)
    first.folder.answers.write_text("".join([lines[0], "{broken\n", *lines[2:]]), "utf-8")
    with pytest.raises(Exception, match=r"answers\.jsonl:2 .*--fresh"):
        run_experiment(spec, tmp_path / "runs", commands=openbook)
    run_experiment(spec, tmp_path / "runs", fresh=True, commands=openbook)


def test_a_busy_server_is_asked_again(openbook, write_spec, tmp_path):
    openbook.fail_first = 3
    finished = run_experiment(str(write_spec(BASE_ARMS)), tmp_path / "runs", commands=openbook)
    assert all(record.error is None for record in lines_of(finished.folder))


def test_a_refused_question_is_recorded_unscored_and_fails_the_gate(openbook, write_spec, tmp_path):
    openbook.refuse = {"What is the keeper of the mill called?"}
    openbook.broken = {"What is the keeper of the inn called?"}
    finished = run_experiment(str(write_spec(BASE_ARMS)), tmp_path / "runs", commands=openbook)
    arm = finished.results.arms["rag"]
    assert (arm.n, arm.scored) == (6, 4)
    assert arm.metrics["contains_answer"].value == 1
    gate = next(gate for gate in finished.results.gates if gate.name == "errors")
    assert not gate.passed
    assert "HTTP 422 Too long: No room." in gate.detail
    assert "errors" in finished.results.verdict


def test_an_index_that_lost_a_document_stops_the_run(openbook, write_spec, tmp_path):
    openbook.drop_document = "house-3.md"
    with pytest.raises(GateFailed, match="corpus_parity"):
        run_experiment(str(write_spec(BASE_ARMS)), tmp_path / "runs", commands=openbook)
    assert not openbook.asked


def test_a_test_question_among_the_training_questions_stops_the_run_before_it_starts(openbook, write_spec, tmp_path):
    spec = write_spec(SPEC)
    questions = tmp_path / "village" / "questions.jsonl"
    leak = {"id": "leak", "question": "who keeps THE mill", "answers": ["Tom Fell"], "split": "test"}
    questions.write_text(f"{questions.read_text('utf-8')}{json.dumps(leak)}\n", "utf-8")
    with pytest.raises(GateFailed, match="leak and keeper-1-train"):
        run_experiment(str(spec), tmp_path / "runs", commands=openbook)
    assert not openbook.ingested


@pytest.mark.parametrize(
    ("keep", "message"),
    [("train", "no test questions"), ("test", "nothing to fine-tune on")],
)
def test_a_corpus_without_the_questions_that_are_needed_is_refused_at_once(
    keep, message, openbook, write_spec, tmp_path
):
    spec = write_spec(SPEC)
    questions = tmp_path / "village" / "questions.jsonl"
    lines = [line for line in questions.read_text("utf-8").splitlines() if json.loads(line)["split"] == keep]
    questions.write_text("\n".join(lines), "utf-8")
    with pytest.raises(UsageError, match=message):
        run_experiment(str(spec), tmp_path / "runs", commands=openbook)
    assert not openbook.ingested


def test_an_oracle_needs_questions_that_name_their_evidence(openbook, write_spec, tmp_path):
    spec = write_spec(BASE_ARMS.replace("rag: {retriever: dense, top_k: 2}", "rag: {retriever: oracle}"))
    questions = tmp_path / "village" / "questions.jsonl"
    records = [json.loads(line) for line in questions.read_text("utf-8").splitlines()]
    questions.write_text("\n".join(json.dumps({**each, "document_ids": []}) for each in records), "utf-8")
    with pytest.raises(SpecError, match="evidence"):
        run_experiment(str(spec), tmp_path / "runs", commands=openbook)


def test_an_engine_from_outside_cannot_serve_a_fine_tuned_checkpoint(openbook, write_spec, tmp_path):
    with pytest.raises(UsageError, match="--engine-url serves the base alone, and the arms ft, ft_rag"):
        run_experiment(str(write_spec(SPEC)), tmp_path / "runs", "http://127.0.0.1:1", commands=openbook)


def test_two_runs_in_one_folder_do_not_meet(openbook, write_spec, tmp_path):
    spec = str(write_spec(BASE_ARMS))
    finished = run_experiment(spec, tmp_path / "runs", commands=openbook)
    with finished.folder.locked(), pytest.raises(RunLocked, match="Another process"):
        run_experiment(spec, tmp_path / "runs", commands=openbook)


def test_the_checkpoint_can_be_made_first_and_is_then_used(openbook, write_spec, tmp_path):
    spec = str(write_spec(SPEC))
    card = finetune_experiment(spec, tmp_path / "runs", commands=openbook)
    finished = run_experiment(spec, tmp_path / "runs", commands=openbook)
    assert openbook.trained == [card.label]
    assert finished.results.arms["ft"].checkpoint == card.label


def test_an_experiment_without_fine_tuned_arms_has_no_checkpoint_to_make(openbook, write_spec, tmp_path):
    with pytest.raises(UsageError, match="no arm with 'checkpoint: finetuned'"):
        finetune_experiment(str(write_spec(BASE_ARMS)), tmp_path / "runs", commands=openbook)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_killed_goes_on_where_it_was(number, openbook, write_spec, tmp_path):
    spec, runs = write_spec(SPEC), tmp_path / "runs"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.experiments.slow_run", spec, runs],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    while not (answers := next(runs.glob("*/answers.jsonl"), None)) or answers.read_bytes().count(b"\n") < 14:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "the same command goes on from here" in said
    kept = [line for line in answers.read_text("utf-8").split("\n")[:-1] if line]
    openbook.collections = _ingested(runs)
    finished = run_experiment(str(spec), runs, commands=openbook)
    lines = finished.folder.answers.read_text("utf-8").splitlines()
    assert lines[: len(kept)] == kept
    assert openbook.ingested == []
    pairs = [(record.set, record.arm, record.question_id) for record in lines_of(finished.folder)]
    assert len(pairs) == len(set(pairs))
    assert {arm.scored for arm in finished.results.arms.values()} == {6}
    assert all(arm.cost.seconds_per_1000_questions > 0 for arm in finished.results.arms.values())


def _ingested(runs: Path) -> dict:
    """Return the index that the killed process had, as its store would have kept it."""
    folder = RunFolder(
        next(runs.iterdir())
        if not next(runs.iterdir()).name.startswith(".")
        else next(p for p in runs.iterdir() if p.is_dir())
    )
    return {name: {each.id: each for each in folder.read_corpus(name).documents} for name in ("main", "other")}
