from __future__ import annotations

import csv
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.loading import load_corpus
from corpus.normalisation import normalised_words
from corpus.schema import Corpus, Document, Question
from corpus.writing import write_folder, write_jsonl

# What a text editor can put on one line or in a cell; line ends and lone surrogates have tests of their own.
CHARACTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))
TEXT = st.text(CHARACTERS, min_size=1, max_size=40).filter(str.strip)
ANSWER = TEXT.filter(normalised_words)
NAME = st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True)
FIELD = st.from_regex(r"[a-z]{3,8}", fullmatch=True).filter(
    lambda name: name not in ("title", "text", "authority", "effective", "supersedes", "metadata")
)


def documents(ids: st.SearchStrategy[str], text: st.SearchStrategy[str]) -> st.SearchStrategy[list[Document]]:
    document = st.builds(
        Document,
        id=ids,
        text=text,
        title=st.just("") | TEXT,
        effective=st.none() | st.dates(),
        authority=st.integers(0, 9),
        supersedes=st.none() | NAME,
        metadata=st.dictionaries(FIELD, TEXT, max_size=2),
    )
    return st.lists(document, min_size=1, max_size=4, unique_by=lambda one: one.id)


@st.composite
def corpora(draw: st.DrawFn, ids: st.SearchStrategy[str], text: st.SearchStrategy[str]) -> Corpus:
    written = draw(documents(ids, text))
    question = st.builds(
        Question,
        id=NAME,
        question=TEXT,
        answers=st.lists(ANSWER, min_size=1, max_size=3, unique=True).map(tuple),
        document_ids=st.lists(st.sampled_from([one.id for one in written]), max_size=3, unique=True).map(tuple),
        split=st.sampled_from(["train", "test"]),
        fact_id=st.none() | NAME,
    )
    asked = draw(st.lists(question, min_size=1, max_size=4, unique_by=lambda one: one.id))
    return Corpus(name="c", documents=tuple(written), questions=tuple(asked))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(corpora(NAME, TEXT))
def test_a_corpus_written_as_json_lines_loads_unchanged(corpus):
    with TemporaryDirectory() as folder:
        write_jsonl(Path(folder) / "c", corpus)
        assert load_corpus(Path(folder) / "c") == corpus


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(corpora(NAME.map(lambda name: f"{name}/{name}.md"), TEXT.map(lambda text: f"A {text}\n\n---\nz")))
def test_a_corpus_written_as_a_folder_loads_unchanged(corpus):
    with TemporaryDirectory() as folder:
        write_folder(Path(folder) / "c", corpus)
        loaded = load_corpus(Path(folder) / "c")
    assert loaded.questions == corpus.questions
    assert loaded.documents == tuple(sorted(corpus.documents, key=lambda document: document.id))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(corpora(NAME, TEXT), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "utf-8-sig"]))
def test_a_corpus_in_tables_loads_unchanged(corpus, line_end, encoding):
    """Written by the standard library, as a spreadsheet would."""
    cells = str.maketrans("|", "/")
    corpus = Corpus.model_validate(json.loads(corpus.model_dump_json().translate(cells)))
    corpus = corpus.model_copy(update={"questions": tuple(with_plain_answers(one) for one in corpus.questions)})
    with TemporaryDirectory() as folder:
        tables(Path(folder), corpus, line_end, encoding)
        loaded = load_corpus(folder, name="c")
    assert loaded.questions == corpus.questions
    assert [(one.id, one.text, one.title, one.effective, one.authority) for one in loaded.documents] == [
        (one.id, one.text, one.title, one.effective, one.authority) for one in corpus.documents
    ]


def with_plain_answers(question: Question) -> Question:
    """Cells are trimmed around the separator."""
    return question.model_copy(update={"answers": tuple(dict.fromkeys(one.strip() for one in question.answers))})


def tables(folder: Path, corpus: Corpus, line_end: str, encoding: str) -> None:
    with (folder / "documents.csv").open("w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, lineterminator=line_end)
        writer.writerow(["id", "text", "title", "effective", "authority"])
        writer.writerows([one.id, one.text, one.title, one.effective or "", one.authority] for one in corpus.documents)
    with (folder / "questions.csv").open("w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, lineterminator=line_end)
        writer.writerow(["id", "question", "answers", "document_ids", "split", "fact_id"])
        writer.writerows(
            [one.id, one.question, "|".join(one.answers), "|".join(one.document_ids), one.split, one.fact_id or ""]
            for one in corpus.questions
        )
