from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.errors import CorpusError
from corpus.loading import LOADERS, load_corpus
from tests.corpus.files import lines


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=200), st.binary(max_size=200), st.sampled_from(sorted(LOADERS)))
def test_any_bytes_load_or_are_refused_with_a_corpus_error(one, other, format):
    names = {
        "folder": ("documents/a.md", "questions.jsonl"),
        "jsonl": ("documents.jsonl", "questions.jsonl"),
        "csv": ("documents.csv", "questions.csv"),
        "beir": ("corpus.jsonl", "queries.jsonl"),
        "squad": ("a.json", "b.txt"),
    }
    with TemporaryDirectory() as folder:
        for name, content in zip(names[format], (one, other), strict=True):
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        with pytest.raises(CorpusError):
            load_corpus(folder, format)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "id",
    "text",
    "title",
    "effective",
    "authority",
    "supersedes",
    "metadata",
    "question",
    "answers",
    "document_ids",
    "split",
    "fact_id",
    "_id",
]
ROW = st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ROW | JSON, max_size=3), st.lists(ROW | JSON, max_size=3), st.sampled_from(["jsonl", "beir"]))
def test_any_json_loads_or_is_refused_with_a_corpus_error(one, other, format):
    names = {"jsonl": ("documents.jsonl", "questions.jsonl"), "beir": ("corpus.jsonl", "queries.jsonl")}
    with TemporaryDirectory() as folder:
        for name, rows in zip(names[format], (one, other), strict=True):
            (Path(folder) / name).write_text(lines(*rows), encoding="utf-8")
        with suppress(CorpusError):
            load_corpus(folder, format)


QUESTIONS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.just("q") | JSON,
            "question": st.just("What?") | JSON,
            "answers": st.just([{"text": "text"}]) | JSON,
        },
        optional={"is_impossible": JSON},
    )
    | JSON,
    max_size=2,
)
PARAGRAPH = st.fixed_dictionaries({"context": st.just("The text.") | JSON, "qas": QUESTIONS | JSON})
ARTICLE = st.fixed_dictionaries({"paragraphs": st.lists(PARAGRAPH | JSON, max_size=2) | JSON}, optional={"title": JSON})
TREE = st.fixed_dictionaries({"data": st.lists(ARTICLE | JSON, max_size=2) | JSON})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREE | JSON)
def test_any_squad_tree_loads_or_is_refused_with_a_corpus_error(tree):
    with TemporaryDirectory() as folder:
        (Path(folder) / "squad.json").write_text(json.dumps(tree), encoding="utf-8")
        with suppress(CorpusError):
            load_corpus(folder)
