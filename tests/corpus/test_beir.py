from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.loading import load_corpus
from corpus.schema import Document, Question
from tests.corpus.files import error_of, lines


@pytest.fixture
def beir(tmp_path: Path) -> Callable[..., Path]:
    def write(queries: str, **qrels: str) -> Path:
        (tmp_path / "corpus.jsonl").write_text(
            lines({"_id": "d1", "title": "Inns", "text": "It has 17 beds.", "metadata": {}})
        )
        (tmp_path / "queries.jsonl").write_text(queries)
        (tmp_path / "qrels").mkdir()
        for name, text in qrels.items():
            (tmp_path / "qrels" / f"{name}.tsv").write_text("query-id\tcorpus-id\tscore\n" + text)
        return tmp_path

    return write


def test_beir_takes_answers_from_the_metadata_and_evidence_from_the_qrels(beir):
    queries = lines(
        {"_id": "q1", "text": "Beds?", "metadata": {"answers": ["17"]}},
        {"_id": "q2", "text": "How many?", "answers": ["17", "seventeen"]},
        {"_id": "q3", "text": "Nobody judged this.", "metadata": {}},
    )
    corpus = load_corpus(beir(queries, test="q1\td1\t1\nq1\td9\t0\n", train="q2\td1\t2\n"))
    assert corpus.documents == (Document(id="d1", title="Inns", text="It has 17 beds."),)
    assert corpus.questions == (
        Question(id="q1", question="Beds?", answers=("17",), document_ids=("d1",)),
        Question(id="q2", question="How many?", answers=("17", "seventeen"), document_ids=("d1",), split="train"),
    )


def test_a_query_without_answers_is_named(beir):
    path = beir(lines({"_id": "q1", "text": "Beds?", "metadata": {}}), test="q1\td1\t1\n")
    assert "queries.jsonl:1: the question has no 'answers'" in error_of(path)


def test_a_line_of_the_qrels_that_cannot_be_read_is_named(beir):
    path = beir(lines({"_id": "q1", "text": "Beds?", "answers": ["17"]}), test="q1 d1 1\n")
    assert "test.tsv:2: 'q1 d1 1' must be query id, document id and a whole number, with tabs between" in error_of(path)


def test_beir_without_qrels_is_told_what_they_are_for(beir):
    path = beir(lines({"_id": "q1", "text": "Beds?", "answers": ["17"]}))
    assert "qrels: holds no .tsv file; BEIR needs qrels" in error_of(path)
