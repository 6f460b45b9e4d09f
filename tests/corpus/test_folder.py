from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from corpus.errors import CorpusError
from corpus.loading import load_corpus
from corpus.schema import Corpus, Document
from corpus.writing import write_folder
from tests.corpus.files import QUESTION, error_of, lines


def folder_corpus(folder: Path, files: dict[str, str], questions: str | None = None) -> Path:
    for name, text in files.items():
        path = folder / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    evidence = next(iter(files), "inn.md")
    rows = lines({**QUESTION, "document_ids": [evidence]}) if questions is None else questions
    (folder / "questions.jsonl").write_text(rows, encoding="utf-8")
    return folder


def test_a_document_of_a_folder_has_its_path_for_id_and_its_front_matter_for_fields(tmp_path):
    text = (
        '---\r\ntitle: "Inns: a list"\r\neffective: 1871-05-02\r\nauthority: 4\r\nsupersedes: old/inn.md\r\n'
        "style: 'it''s'\r\ntags:\r\n  - a\r\n---\r\n\r\nThe Heron has 17 beds.\r\n\r\n---\r\nEnd.\r\n"
    )
    corpus = load_corpus(folder_corpus(tmp_path, {"town/inn.md": text}))
    assert corpus.documents == (
        Document(
            id="town/inn.md",
            text="The Heron has 17 beds.\n\n---\nEnd.",
            title="Inns: a list",
            effective=date(1871, 5, 2),
            authority=4,
            supersedes="old/inn.md",
            metadata={"style": "it's"},
        ),
    )


def test_a_file_without_front_matter_is_all_text(tmp_path):
    files = {"a.md": "# Inns\n\nText.\n", "b.txt": "---\ntitle: x\n---\n", "c.md": "---\nnot closed\n"}
    corpus = load_corpus(folder_corpus(tmp_path, files))
    assert [document.text for document in corpus.documents] == [
        "# Inns\n\nText.",
        "---\ntitle: x\n---",
        "---\nnot closed",
    ]


def test_hidden_and_other_files_are_passed_over(tmp_path):
    files = {"b.md": "B.", "a/c.md": "C.", ".git/x.md": "X.", "picture.png": "P"}
    corpus = load_corpus(folder_corpus(tmp_path, files))
    assert [document.id for document in corpus.documents] == ["a/c.md", "b.md"]


def test_a_document_without_text_is_named(tmp_path):
    path = folder_corpus(tmp_path, {"inn.md": "---\ntitle: x\n---\n"})
    assert "inn.md:1: 'text' is blank; fill it in or remove the row" in error_of(path)


def test_a_wrong_day_in_the_front_matter_is_named_with_its_line(tmp_path):
    path = folder_corpus(tmp_path, {"inn.md": "---\ntitle: x\neffective: 1871-15-02\n---\nText."})
    assert "inn.md:3: 'effective' is '1871-15-02': Input should be a valid date" in error_of(path)


def test_a_folder_without_documents_is_told_what_to_do(tmp_path):
    (tmp_path / "documents").mkdir()
    (tmp_path / "questions.jsonl").write_text("")
    assert "documents: holds no .md, .markdown, .txt file; put the documents there" in error_of(tmp_path)


def test_an_id_that_leaves_the_folder_is_never_written(tmp_path):
    for document_id in ("../x.md", "/x.md", "x.txt"):
        corpus = Corpus(name="c", documents=(Document(id=document_id, text="x"),))
        with pytest.raises(CorpusError, match="cannot be a file in a folder corpus"):
            write_folder(tmp_path / "c", corpus)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
