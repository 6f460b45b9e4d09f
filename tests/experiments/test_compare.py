"""Contrasts, trials, costs and the verdict on small runs whose outcome can be worked out by hand."""

from __future__ import annotations

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from app.schemas.checkpoint import CheckpointCard
from corpus.schema import Corpus, Document
from experiments.compare import compare, verdict_word
from experiments.cost import arm_cost, break_even, cost_summary
from experiments.gates import GATES
from experiments.records import AnswerRecord
from experiments.results import Estimate
from experiments.run_data import RunData, cluster_of
from experiments.run_folder import RunState
from experiments.score import score_answers
from experiments.spec import Spec
from experiments.summarise import summarise
from experiments.table import WIDTH, verdict_table
from experiments.trials import TRIALS
from tests.experiments.answers import a_question, an_answer

ARMS = {
    "closed_book": {"retriever": "none"},
    "rag": {"retriever": "dense", "top_k": 2},
    "oracle": {"retriever": "oracle"},
    "ft": {"retriever": "none", "checkpoint": "finetuned"},
}
CARD = CheckpointCard.model_validate(
    {
        "name": "small",
        "version": "1",
        "created": "2026-11-29T00:00:00Z",
        "weights_hash": "0",
        "training_seconds": 360.0,
        "training_peak_bytes": 2**31,
    }
)


def a_run(
    right: dict[str, str], panel: tuple[str, str] = ("", ""), again: dict[str, str] | None = None, **changes: object
) -> RunData:
    """Build a run from strings of marks: '+' right, '-' wrong, '.' unanswered; one mark a question."""
    length = len(next(iter(right.values())))
    questions = [a_question("Ida", id=f"q{n}", fact_id=f"f{n}", document_ids=("d",)) for n in range(length)]
    general = [a_question("Ida", id=f"g{n}") for n in range(len(panel[0]))]
    spec = {"name": "small", "corpus": {"world": {"seed": 1}}, "primary": {"a": "rag", "b": "ft"}, **changes}
    corpus = Corpus(name="small", documents=(Document(id="d", text="Ida"),), questions=tuple(questions))
    records = [record for arm, marks in right.items() for record in answered("test", arm, marks, questions)]
    for checkpoint, marks in zip(("base", "finetuned"), panel, strict=True):
        records += answered("panel", checkpoint, marks, general)
    for arm, marks in (again or {}).items():
        records += answered("again", arm, marks, questions)
    by_set = {"test": {q.id: q for q in questions}, "panel": {q.id: q for q in general}}
    by_set["again"] = by_set["test"]
    return RunData(
        spec=Spec.model_validate({**spec, "arms": {name: ARMS[name] for name in right}}),
        state=RunState(
            command="openbook experiment run small",
            environment={},
            base="base@1",
            indexing_seconds={"main": 36.0},
            index_hash=corpus.documents_hash,
            finetuned=CARD.model_copy(update={"documents_hash": corpus.documents_hash}),
            asking_seconds={"rag": 20.0, "ft": 5.0, "closed_book": 4.0},
            last_answer="2026-11-29T12:00:00+00:00",
        ),
        corpus=corpus,
        panel=tuple(general),
        answers=nested(records, lambda record: record),
        scores=nested(
            [r for r in score_answers(records, by_set) if r.scores is not None], lambda record: record.scores
        ),
    )


def answered(which, arm, marks, questions):
    label = "small@1" if arm in ("ft", "finetuned") else "base@1"
    retriever = {"rag": "dense", "oracle": "given"}.get(arm, "none")
    for mark, question in zip(marks, questions, strict=True):
        answer = an_answer("Ida" if mark == "+" else "Tom", checkpoint=label, retriever=retriever)
        given = {"answer": None, "error": "HTTP 500"} if mark == "." else {"answer": answer, "latency_ms": 10.0}
        yield AnswerRecord(arm=arm, set=which, question_id=question.id, **given)


def nested(records, value):
    table = {"test": {}, "panel": {}, "again": {}}
    for record in records:
        table[record.set].setdefault(record.arm, {})[record.question_id] = value(record)
    return table


def test_a_contrast_counts_pairs_and_tests_them_exactly():
    # Of 20 questions rag alone got 9 right, ft alone 1.
    contrast = compare(a_run({"rag": "+" * 14 + "-" * 6, "ft": "+" * 5 + "-" * 9 + "+" + "-" * 5}))[0]
    assert (contrast.n, contrast.a_only, contrast.b_only) == (20, 9, 1)
    assert contrast.difference == pytest.approx(8 / 20)
    assert contrast.p == pytest.approx(scipy.stats.binomtest(1, 10, 0.5).pvalue)
    assert contrast.mde == pytest.approx(2.8016 * (10 / 20 / 20) ** 0.5, abs=1e-4)
    assert contrast.verdict == "better"
    assert contrast.primary


def test_arms_are_compared_on_the_questions_that_both_answered():
    contrast = compare(a_run({"rag": "+++.++", "ft": "--.---"}))[0]
    assert contrast.n == 4


def test_every_named_pair_of_the_arms_at_hand_is_compared_and_corrected_for_number():
    contrasts = compare(a_run({"closed_book": "-" * 12, "rag": "+" * 9 + "---", "ft": "++++" + "-" * 8}))
    pairs = [(contrast.a, contrast.b) for contrast in contrasts if contrast.metric == "contains_answer"]
    assert pairs == [("rag", "ft"), ("ft", "closed_book"), ("rag", "closed_book")]
    assert [contrast.p_adjusted is None for contrast in contrasts] == [True] + [False] * (len(contrasts) - 1)
    assert all(contrast.p_adjusted >= contrast.p for contrast in contrasts[1:])


def test_the_primary_contrast_is_repeated_on_the_other_answer_metrics():
    contrasts = compare(a_run({"rag": "+-+-", "ft": "--+-"}))
    metrics = [contrast.metric for contrast in contrasts]
    assert metrics == ["contains_answer", "exact_match", "token_f1"]
    assert [contrast.primary for contrast in contrasts] == [True, False, False]


@pytest.mark.parametrize(
    ("low", "high", "p_adjusted", "word"),
    [
        (0.01, 0.20, None, "better"),
        (-0.20, -0.01, None, "worse"),
        (-0.04, 0.03, None, "equivalent"),
        (-0.04, 0.06, None, "underpowered"),
        (0.01, 0.20, 0.06, "underpowered"),
        (0.01, 0.04, 0.06, "equivalent"),
        (0.01, 0.20, 0.04, "better"),
    ],
)
def test_a_verdict_says_no_more_than_the_interval_allows(low, high, p_adjusted, word):
    assert verdict_word(Estimate(value=(low + high) / 2, low=low, high=high), 0.05, p_adjusted) == word


def test_a_handful_of_agreeing_questions_is_underpowered_and_never_equivalent():
    assert compare(a_run({"rag": "+" * 8, "ft": "+" * 8}))[0].verdict == "underpowered"


def test_many_agreeing_questions_are_equivalent():
    assert compare(a_run({"rag": "+-" * 150, "ft": "+-" * 150}))[0].verdict == "equivalent"


def test_questions_on_one_fact_form_a_cluster():
    assert cluster_of(a_question("x", fact_id="f", document_ids=("d",))) == "fact f"
    assert cluster_of(a_question("x", document_ids=("d", "e"))) == "document d"
    assert cluster_of(a_question("x", id="q")) == "question q"


def test_forgetting_is_a_paired_difference_of_the_panel():
    trial = TRIALS["forgetting"](a_run({"rag": "+", "ft": "+"}, panel=("+" * 36 + "-" * 4, "+" * 20 + "-" * 20)))
    assert trial.measured["before"].value == pytest.approx(0.9)
    assert trial.measured["after"].value == pytest.approx(0.5)
    assert trial.measured["difference"].value == pytest.approx(-0.4)
    assert trial.verdict == "forgotten"


def test_a_panel_that_did_not_move_is_kept_only_if_it_is_large_enough():
    assert TRIALS["forgetting"](a_run({"rag": "+", "ft": "+"}, panel=("+" * 200, "+" * 200))).verdict == "kept"
    assert TRIALS["forgetting"](a_run({"rag": "+", "ft": "+"}, panel=("+" * 10, "+" * 10))).verdict == "underpowered"


def test_without_a_panel_there_is_no_trial():
    assert TRIALS["forgetting"](a_run({"rag": "+", "ft": "+"})) is None


def test_costs_by_hand():
    # 10 questions in 20 s are 2,000 s for 1,000; at 1.80 an hour that is 1.00. Indexing 36 s is 0.018.
    run = a_run({"rag": "+" * 10, "ft": "+" * 10}, price={"currency": "EUR", "per_hour": 1.80})
    rag, ft = arm_cost(run, "rag"), arm_cost(run, "ft")
    assert (rag.one_off_seconds, rag.one_off_money) == (36, 0.018)
    assert (rag.seconds_per_1000_questions, rag.money_per_1000_questions) == (2000, 1.0)
    assert (ft.one_off_seconds, ft.training_peak_bytes) == (360, 2**31)
    # 36 + 2 q = 360 + 0.5 q  ->  q = 324 / 1.5 = 216.
    summary = cost_summary(run)
    assert summary.break_even_questions == pytest.approx(216)
    assert summary.break_even_note.startswith("ft costs more at once and less for each question than rag")


def test_there_is_no_break_even_where_one_arm_is_cheaper_throughout():
    assert break_even(10, 1, 20, 2) is None
    assert break_even(20, 2, 10, 1) is None
    assert break_even(10, 1, 20, 1) is None


@given(*[st.floats(0, 1e6)] * 2, *[st.floats(0.001, 100)] * 2)
def test_at_the_break_even_both_arms_cost_the_same(once_a, once_b, each_a, each_b):
    questions = break_even(once_a, each_a, once_b, each_b)
    if questions is not None:
        assert questions > 0
        assert once_a + questions * each_a == pytest.approx(once_b + questions * each_b, rel=1e-6)


def test_no_pair_of_retrieval_and_fine_tuning_has_no_break_even():
    run = a_run({"rag": "+", "closed_book": "-"}, primary={"a": "rag", "b": "closed_book"})
    assert cost_summary(run).break_even_note.startswith("No break-even")


def test_a_clear_verdict_names_both_arms_their_difference_and_what_was_forgotten():
    run = a_run(
        {"rag": "+" * 80 + "-" * 20, "ft": "+" * 50 + "-" * 50}, panel=("+" * 36 + "-" * 4, "+" * 20 + "-" * 20)
    )
    verdict = summarise(run).verdict
    assert verdict.startswith(
        "On 100 questions, retrieval answered 80 % and fine-tuning 50 %: retrieval is better by 30"
    )
    assert "by 30 points (95 % interval 2" in verdict
    assert verdict.endswith("fine-tuning also lost 40 points of general knowledge (90 % before, 50 % after).")


def test_an_unsettled_verdict_says_what_could_have_been_seen():
    verdict = summarise(a_run({"rag": "+" * 12 + "-" * 8, "ft": "+" * 11 + "-" * 9})).verdict
    assert "not settled" in verdict
    assert "so many questions show only differences of about" in verdict


def test_a_lost_comparison_is_told_from_the_winners_side():
    verdict = summarise(a_run({"rag": "-" * 40 + "+" * 10, "ft": "+" * 50})).verdict
    assert "fine-tuning is better by 80 points (95 % interval " in verdict


def test_a_base_that_knows_the_corpus_fails_its_gate_and_the_verdict_warns():
    run = a_run({"closed_book": "+" * 6 + "-" * 4, "rag": "+" * 10, "ft": "+" * 10})
    results = summarise(run)
    gate = next(gate for gate in results.gates if gate.name == "closed_book")
    assert not gate.passed
    assert "already knows 60 %" in gate.detail
    assert results.verdict.endswith("Do not rely on it: failed gates closed_book.")


def test_an_arm_answered_by_another_checkpoint_fails_its_gate():
    run = a_run({"rag": "++", "ft": "++"})
    record = run.answers["test"]["ft"]["q0"]
    stranger = record.model_copy(update={"answer": record.answer.model_copy(update={"checkpoint": "base@1"})})
    run.answers["test"]["ft"]["q0"] = stranger
    gate = GATES["served_checkpoints"](run)
    assert not gate.passed
    assert "ft by base@1" in gate.detail


def test_an_arm_asked_with_two_prompts_fails_its_gate():
    run = a_run({"rag": "++", "ft": "++"})
    record = run.answers["test"]["rag"]["q0"]
    newer = record.model_copy(update={"answer": record.answer.model_copy(update={"prompt": "passages@2"})})
    run.answers["test"]["rag"]["q0"] = newer
    gate = GATES["one_prompt"](run)
    assert not gate.passed
    assert "passages@2" in gate.detail


def test_a_training_set_of_other_documents_fails_parity():
    run = a_run({"rag": "++", "ft": "++"})
    other = run.state.model_copy(update={"finetuned": CARD.model_copy(update={"documents_hash": "other"})})
    gate = GATES["corpus_parity"](RunData(**{**vars(run), "state": other}))
    assert not gate.passed
    assert gate.detail == "Other documents than the 1 of the corpus are in the training set."


@pytest.mark.parametrize(("again", "passes"), [("++--", True), ("+---", False)])
def test_scores_that_move_when_asked_again_fail_the_gate_beyond_the_margin(again, passes):
    run = a_run({"rag": "++--", "ft": "++++"}, again={"rag": again})
    gate = GATES["repeatability"](run)
    assert gate.passed is passes
    assert ("moved by +0.0 (rag)" if passes else "moved by -25.0 (rag)") in gate.detail


def test_an_answer_that_is_missing_the_second_time_is_no_difference():
    gate = GATES["repeatability"](a_run({"rag": "++--", "ft": "++++"}, again={"rag": "+.--"}))
    assert gate.passed
    assert "Of 3 answers asked for again 0 were worded differently" in gate.detail


@pytest.mark.parametrize("name", GATES)
def test_every_gate_passes_on_a_sound_run_and_carries_its_own_name(name):
    gate = GATES[name](a_run({"closed_book": "----", "rag": "++++", "ft": "+++-"}))
    assert (gate.name, gate.passed) == (name, True)
    assert gate.detail.endswith(".")


def test_the_same_run_has_the_same_results_to_the_last_byte():
    def run():
        return a_run({"closed_book": "-" * 30, "rag": "+-+" * 10, "ft": "--+" * 10}, panel=("+" * 20, "+-" * 10))

    assert summarise(run()).model_dump_json() == summarise(run()).model_dump_json()


def test_the_table_fits_in_a_hundred_columns():
    results = summarise(a_run({"closed_book": "-" * 30, "rag": "+" * 30, "oracle": "+" * 30, "ft": "--+" * 10}))
    table = verdict_table(results).splitlines()
    verdict = table.index(results.verdict)
    assert all(len(line) <= WIDTH for line in table[:verdict])
    assert any(line.startswith("closed_book") for line in table)


def test_an_arm_that_answered_nothing_has_no_figures_and_fails_the_gate():
    results = summarise(a_run({"rag": "....", "ft": "++++"}))
    assert results.arms["rag"].metrics == {}
    assert results.arms["rag"].scored == 0
    assert results.contrasts == ()
    assert results.verdict.startswith("No verdict: no question was answered by both rag and ft.")
    assert not next(gate for gate in results.gates if gate.name == "errors").passed
    assert "rag" in verdict_table(results)
