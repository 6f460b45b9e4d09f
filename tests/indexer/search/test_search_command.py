"""`openbook search` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexer.commands.search import RETRIEVERS as SHOWN
from indexer.search import RETRIEVERS
from tests.indexer.test_cli import openbook

DOCUMENTS = (
    {"id": "old", "text": "the fee is four shells", "authority": 1, "effective": "2024-01-01"},
    {"id": "new", "text": "now the fee is nine", "authority": 2, "effective": "2025-01-01", "supersedes": "old"},
    {"id": "mill", "text": "the mill is closed", "metadata": {"team": "mill", "year": "2023"}},
)


@pytest.fixture(autouse=True)
def surroundings(tmp_path, tiny_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENBOOK_EMBEDDER", str(tiny_path))
    Path("documents.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    openbook("ingest", "documents.jsonl")


def ids(*arguments: str) -> list[str]:
    out, _, code = openbook("search", *arguments, "--json")
    assert code == 0
    return [hit["document_id"] for hit in json.loads(out)["hits"]]


def test_the_command_offers_every_retriever():
    assert set(SHOWN) == set(RETRIEVERS)


@pytest.mark.parametrize("retriever", SHOWN)
def test_every_retriever_searches_from_the_command_line(retriever):
    assert ids("the fee is four shells", "--retriever", retriever, "--top-k", "2") == ["new", "old"]


def test_passages_are_chosen_by_filter_and_by_where():
    assert ids("the", "--where", "team=mill") == ["mill"]
    assert ids("the", "--where", "authority=2") == ["new"]
    assert ids("the", "--filter", '{"year": {"lt": 2024}}') == ["mill"]
    assert ids("the", "--filter", '{"authority": {"gte": 1}}', "--where", "id=old") == ["old"]


def test_the_past_is_searched_by_date():
    assert ids("fee", "--as-of", "2024-06-01") == ["old"]


def test_json_says_what_each_passage_is():
    [new, old] = json.loads(openbook("search", "the fee is four shells", "--top-k", "2", "--json")[0])["hits"]
    assert (new["authority"], new["effective"], new["superseded_by"]) == (2, "2025-01-01", [])
    assert old["superseded_by"] == ["new"]


def test_text_says_what_is_superseded():
    assert "superseded by new" in openbook("search", "the fee is four shells")[0]


EMPTY = {
    "filter": (["x", "--where", "team=nobody"], "passes the filter"),
    "words": (["qqq", "--retriever", "lexical"], "holds a word of the question"),
    "threshold": (["x", "--min-score", "1.01"], "as similar to the question as 1.010"),
}


@pytest.mark.parametrize("case", EMPTY)
def test_nothing_found_is_explained(case):
    arguments, message = EMPTY[case]
    out, err, code = openbook("search", *arguments)
    assert (out, code) == ("", 0)
    assert message in err


REFUSED = {
    "no question": ([], "Give a question"),
    "both": (["x", "--calibrate"], "Give a question"),
    "no JSON": (["x", "--filter", "{team: 1}"], "--filter is no JSON"),
    "unknown field": (["x", "--where", "teem=mill"], "Did you mean 'team'?"),
    "no value": (["x", "--where", "team"], "FIELD=VALUE"),
    "no score": (["x", "--min-score", "high"], "a number or"),
    "not calibrated": (["x", "--min-score", "calibrated"], "openbook search --calibrate"),
    "no model": (["x", "--rerank", "./nowhere"], "no folder './nowhere'"),
    "two orders": (["x", "--rerank", "y", "--mmr", "0.5"], "choose one"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_use_is_explained(case):
    arguments, message = REFUSED[case]
    out, err, code = openbook("search", *arguments)
    assert (out, code) == ("", 2)
    assert message in err


def test_a_calibrated_threshold_is_kept():
    assert "Least score" in openbook("search", "--calibrate")[0]
    calibration = json.loads(openbook("search", "--calibrate", "--json")[0])
    result = json.loads(openbook("search", "the mill is closed", "--min-score", "calibrated", "--json")[0])
    assert result["min_score"] == calibration["min_score"]
