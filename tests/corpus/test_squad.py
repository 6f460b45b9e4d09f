from __future__ import annotations

import json

from corpus.loading import load_corpus
from corpus.schema import Question
from tests.corpus.files import error_of


def squad(**question: object) -> dict[str, object]:
    asked = {"id": "q1", "question": "Beds?", "answers": [{"text": "17", "answer_start": 4}] * 2, **question}
    paragraph = {"context": "It has 17 beds.", "qas": [asked]}
    return {"data": [{"title": "Old_Inns", "paragraphs": [{"context": "First.", "qas": []}, paragraph]}]}


def test_a_paragraph_of_squad_is_a_document_and_its_answers_come_once(tmp_path):
    (tmp_path / "dev.json").write_text(json.dumps(squad()))
    for path in (tmp_path, tmp_path / "dev.json"):
        corpus = load_corpus(path)
        assert [(one.id, one.title) for one in corpus.documents] == [
            ("Old_Inns-001", "Old Inns"),
            ("Old_Inns-002", "Old Inns"),
        ]
        assert corpus.questions == (
            Question(id="q1", question="Beds?", answers=("17",), document_ids=("Old_Inns-002",)),
        )
    assert load_corpus(tmp_path / "dev.json").name == "dev"


def test_questions_without_an_answer_are_left_out(tmp_path):
    tree = squad()
    tree["data"][0]["paragraphs"][1]["qas"].append({"id": "q2", "question": "X?", "answers": [], "is_impossible": True})
    (tmp_path / "dev.json").write_text(json.dumps(tree))
    assert [question.id for question in load_corpus(tmp_path).questions] == ["q1"]


def test_a_problem_of_squad_is_named_by_its_place(tmp_path):
    (tmp_path / "dev.json").write_text(json.dumps(squad(answers=[])))
    assert "dev.json:data[0].paragraphs[1].qas[0]: 'answers' is empty" in error_of(tmp_path)


def test_json_that_is_no_squad_is_told_so(tmp_path):
    (tmp_path / "dev.json").write_text("[1]")
    assert 'dev.json: is no SQuAD: it must be an object with a list "data"' in error_of(tmp_path)
    (tmp_path / "dev.json").write_text('{"data": [\n{]}')
    assert "dev.json:2: no JSON at column 2" in error_of(tmp_path)
