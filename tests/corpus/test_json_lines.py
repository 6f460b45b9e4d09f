from __future__ import annotations

import json

import pytest

from corpus.loading import load_corpus
from corpus.schema import Question
from tests.corpus.files import DOCUMENT, QUESTION, error_of, jsonl_corpus, lines


def test_the_short_names_of_files_and_fields_are_read(tmp_path):
    (tmp_path / "docs.jsonl").write_text(
        lines({**DOCUMENT, "style": "guide", "number": 3, "tags": ["a"], "none": None})
    )
    (tmp_path / "questions.jsonl").write_text(
        lines({"id": 7, "question": "Beds?", "answers": ["17"], "doc_ids": ["inn"]})
    )
    corpus = load_corpus(tmp_path, name="beds")
    assert corpus.name == "beds"
    assert corpus.documents[0].metadata == {"style": "guide", "number": "3"}
    assert corpus.questions == (Question(id="7", question="Beds?", answers=("17",), document_ids=("inn",)),)


def test_byte_order_marks_windows_line_ends_and_blank_lines_are_read(tmp_path):
    documents, questions = "\n" + lines(DOCUMENT) + "\n\n", lines(QUESTION)
    path = jsonl_corpus(tmp_path, documents.replace("\n", "\r\n"), questions.replace("\n", "\r\n"), "utf-8-sig")
    assert [document.id for document in load_corpus(path).documents] == ["inn"]


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path):
    row = json.dumps({"id": "inn", "text": "one\u2028two"}, ensure_ascii=False) + "\n"
    corpus = load_corpus(jsonl_corpus(tmp_path, row, lines(QUESTION)))
    assert corpus.documents[0].text == "one\u2028two"


def test_broken_json_is_named_with_line_and_column(tmp_path):
    path = jsonl_corpus(tmp_path, lines(DOCUMENT) + '{"id": "b", "text" "x"}\n', lines(QUESTION))
    assert "documents.jsonl:2: no JSON at column 20: Expecting ':' delimiter" in error_of(path)


def test_bytes_that_are_not_utf_8_are_named_with_their_line(tmp_path):
    path = jsonl_corpus(tmp_path, lines(DOCUMENT), lines(QUESTION))
    (path / "documents.jsonl").write_bytes(lines(DOCUMENT).encode() + b'{"id": "caf\xe9"}\n')
    assert "documents.jsonl:2: byte 0xe9 is not UTF-8; save the file as UTF-8" in error_of(path)


def test_a_misspelt_field_gets_the_right_name(tmp_path):
    path = jsonl_corpus(tmp_path, lines(DOCUMENT), lines({"id": "q", "question": "Beds?", "anwsers": ["17"]}))
    assert "questions.jsonl:1: the question has no 'answers', but it has 'anwsers'; rename that" in error_of(path)


def test_a_missing_field_is_named_with_those_that_are_there(tmp_path):
    path = jsonl_corpus(tmp_path, lines({"id": "inn", "body": "x"}), lines(QUESTION))
    assert "documents.jsonl:1: the document has no 'text'; it has 'id', 'body'" in error_of(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": []}, "'answers' is empty; give at least one accepted answer"),
        ({"answers": "17"}, "'answers' is '17'; it must be a list of texts"),
        ({"answers": ["the"]}, "the answer 'the' cannot be scored"),
        ({"answers": ["17", "?!"]}, "the answer '?!' cannot be scored"),
        ({"answers": ["17", ""]}, "the answer '' cannot be scored"),
        ({"question": "  "}, "'question' is blank; fill it in or remove the row"),
        ({"question": ["x"]}, "'question' is ['x']; it must be text"),
        ({"split": "tset"}, "'split' is 'tset'; it must be 'train' or 'test'. Did you mean 'test'?"),
        ({"split": ["test"]}, "'split' is ['test']; it must be 'train' or 'test'."),
        ({"document_ids": ["in"]}, "no document has the id 'in'. Did you mean 'inn'?"),
        ({"document_ids": "inn"}, "'document_ids' is 'inn'; it must be a list of texts"),
        ({"fact_id": 3}, "'fact_id' is 3: Input should be a valid string"),
    ],
)
def test_a_question_that_cannot_be_used_says_why(tmp_path, change, message):
    path = jsonl_corpus(tmp_path, lines(DOCUMENT), lines({**QUESTION, **change}))
    assert f"questions.jsonl:1: {message}" in error_of(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": " \n"}, "'text' is blank; fill it in or remove the row"),
        ({"effective": "tomorrow"}, "'effective' is 'tomorrow': Input should be a valid date"),
        ({"authority": -1}, "'authority' is -1: Input should be greater than or equal to 0"),
        ({"metadata": "x"}, "'metadata' is 'x'; it must be an object of texts"),
        ({"metadata": {"a": 1}}, "'metadata.a' is 1: Input should be a valid string"),
        ({"text": "\ud800"}, "a text holds half of a surrogate pair"),
        ({"title": "\udfff"}, "a text holds half of a surrogate pair"),
    ],
)
def test_a_document_that_cannot_be_used_says_why(tmp_path, change, message):
    path = jsonl_corpus(tmp_path, lines({**DOCUMENT, **change}), lines(QUESTION))
    assert f"documents.jsonl:1: {message}" in error_of(path)


def test_an_id_that_is_taken_names_the_line_that_took_it(tmp_path):
    path = jsonl_corpus(tmp_path, lines(DOCUMENT, DOCUMENT), lines(QUESTION, QUESTION))
    message = error_of(path)
    assert (
        "documents.jsonl:2: the document id 'inn' is taken by documents.jsonl:1 already; ids must be unique" in message
    )
    assert "questions.jsonl:2: the question id 'q1' is taken by questions.jsonl:1 already" in message


def test_all_problems_of_all_files_are_told_at_once(tmp_path):
    path = jsonl_corpus(tmp_path, lines(DOCUMENT, {"id": "x"}, [1]), "nonsense\n" + lines({**QUESTION, "answers": []}))
    message = error_of(path)
    assert "it has 4 problems" in message
    places = ["documents.jsonl:2", "documents.jsonl:3", "questions.jsonl:1", "questions.jsonl:2"]
    assert all(place in message for place in places)


def test_a_flood_of_problems_is_cut_short_and_counted(tmp_path):
    path = jsonl_corpus(tmp_path, lines(DOCUMENT), "nonsense\n" * 500)
    message = error_of(path)
    assert len(message.splitlines()) == 22
    assert message.endswith("… and 480 more")


def test_a_broken_document_does_not_make_its_questions_wrong_as_well(tmp_path):
    path = jsonl_corpus(tmp_path, lines({"id": "inn", "text": "", "title": "T"}), lines(QUESTION))
    message = error_of(path)
    assert "'text' is blank" in message
    assert "no document has the id" not in message


def test_a_corpus_without_documents_or_questions_is_refused(tmp_path):
    assert "holds no document; a corpus needs at least one" in error_of(jsonl_corpus(tmp_path / "a", "", ""))
    assert "holds no question with an answer" in error_of(jsonl_corpus(tmp_path / "b", lines(DOCUMENT), ""))


def test_a_missing_file_is_named_when_the_format_is_given(tmp_path):
    (tmp_path / "questions.jsonl").write_text(lines(QUESTION))
    assert f"{tmp_path / 'documents.jsonl'}: cannot be opened: No such file" in error_of(tmp_path, "jsonl")
