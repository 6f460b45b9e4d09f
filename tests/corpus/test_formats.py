from __future__ import annotations

from pathlib import Path

import pytest

from corpus.loading import LOADERS, load_corpus
from tests.corpus.files import error_of


def test_a_missing_path_is_named(tmp_path):
    assert f"The corpus {tmp_path / 'x'} does not exist" in error_of(tmp_path / "x")


def test_an_unknown_format_gets_the_nearest_name(tmp_path):
    message = error_of(tmp_path, "sqad")
    assert (
        "There is no corpus format 'sqad'. Did you mean 'squad'? Formats: folder, jsonl, csv, beir, squad." in message
    )


def test_a_path_of_no_known_format_is_told_what_was_looked_for(tmp_path):
    (tmp_path / "notes.docx").write_text("x")
    message = error_of(tmp_path)
    assert "It holds: notes.docx. Looked for" in message
    for name, loader in LOADERS.items():
        assert f"  {name}: {loader.looks_for}" in message


def test_an_empty_folder_is_told_so(tmp_path):
    assert "It holds: nothing" in error_of(tmp_path)


SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize(
    ("name", "documents", "questions"),
    [("xquad_en", 240, 1_190), ("fictional_event", 16, 75), ("invented_authors", 15, 300), ("peps", 41, 176)],
)
def test_the_shared_data_sets_load(name, documents, questions):
    if not (SHARED / name).is_dir():
        pytest.skip(f"the data set {SHARED / name} is not there")
    corpus = load_corpus(SHARED / name)
    assert (len(corpus.documents), len(corpus.questions)) == (documents, questions)
