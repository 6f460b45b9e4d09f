from importlib.resources import files

from corpus.schema import Question
from experiments.metrics.contains_answer import contains
from experiments.metrics.normalisation import require_scorable, tokens

PANEL = [
    Question.model_validate_json(line)
    for line in (files("experiments") / "panels" / "general.jsonl").read_text(encoding="utf-8").splitlines()
]


def test_the_panel_asks_enough_questions_each_once() -> None:
    assert len(PANEL) >= 40
    assert len({question.id for question in PANEL}) == len({question.question for question in PANEL}) == len(PANEL)


def test_no_panel_question_gives_its_own_answer_away() -> None:
    for question in PANEL:
        require_scorable(question)
        assert not any(contains(tokens(question.question), tokens(answer)) for answer in question.answers), question


def test_the_panel_is_never_trained_on_and_needs_no_document() -> None:
    assert all(question.split == "test" and not question.document_ids for question in PANEL)
