from __future__ import annotations

from pathlib import Path

from corpus.loading import load_corpus
from tests.corpus.files import error_of


def csv_corpus(folder: Path, documents: str, questions: str) -> Path:
    (folder / "documents.csv").write_text(documents, encoding="utf-8", newline="")
    (folder / "questions.csv").write_text(questions, encoding="utf-8", newline="")
    return folder


def test_tables_are_read_with_quotes_separators_and_further_columns(tmp_path):
    documents = 'id,text,authority,town\ninn,"It has 17 beds,\nall soft.",3,Fosford\n\n'
    questions = "id,question,answers,doc_ids\nq1,Beds?,17 | seventeen|17,inn\n"
    corpus = load_corpus(csv_corpus(tmp_path, documents, questions))
    assert corpus.documents[0].text == "It has 17 beds,\nall soft."
    assert corpus.documents[0].authority == 3
    assert corpus.documents[0].metadata == {"town": "Fosford"}
    assert corpus.questions[0].answers == ("17", "seventeen")


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path):
    path = csv_corpus(tmp_path, "id,txt\na,b\n", "id,question,answers\n")
    assert "documents.csv:1: the header has no 'text'; it has id, txt. Did you mean 'txt'?" in error_of(path)


def test_a_row_of_the_wrong_length_is_named_with_the_line_on_which_it_begins(tmp_path):
    path = csv_corpus(tmp_path, 'id,text\na,"b\nb"\nc,d,e\nf\n', "id,question,answers\nq,Q?,b\n")
    message = error_of(path)
    assert "documents.csv:4: the row has not as many cells as the header (2)" in message
    assert "documents.csv:5: the row has not as many cells as the header (2)" in message


def test_a_quote_that_never_ends_is_named(tmp_path):
    path = csv_corpus(tmp_path, 'id,text\na,"b\n', "id,question,answers\nq,Q?,b\n")
    assert "documents.csv:2: no CSV: unexpected end of data" in error_of(path)


def test_a_text_longer_than_the_csv_module_allows_by_default_is_read(tmp_path):
    path = csv_corpus(tmp_path, f"id,text\na,{'word ' * 40_000}\n", "id,question,answers\nq,Q?,word\n")
    assert len(load_corpus(path).documents[0].text) == 200_000
