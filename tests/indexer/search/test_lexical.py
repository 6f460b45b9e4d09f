"""Search by words, in every script, for any text that a person may type."""

from __future__ import annotations

import math
import re
import sqlite3
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from indexer.index import Index
from indexer.search import lexical
from indexer.search.options import SearchOptions
from indexer.search.terms import query_terms, search_terms
from indexer.settings import IndexerSettings
from tests.indexer.search.conftest import found

SCRIPTS = {
    "Latin": ("The lighthouse keeper is Orla Venn.", "lighthouse"),
    "another case": ("The lighthouse keeper is Orla Venn.", "ORLA VENN"),
    "diacritics": ("Der Fährmann heißt Jörg.", "fahrmann"),
    "Cyrillic": ("Как покрыть кассовый разрыв?", "кассовый разрыв"),
    "Cyrillic in two code points": (unicodedata.normalize("NFD", "кассовый разрыв"), "кассовый"),
    "Greek": ("Η σκάλα του φάρου", "φάρου"),
    "Chinese": ("床前明月光", "明月"),
    "one Chinese character": ("床前明月光", "月"),
    "the last Chinese character": ("床前明月光", "光"),
    "a whole Chinese line": ("床前明月光,疑是地上霜。", "床前明月光"),
    "Japanese": ("灯台守は山田さんです", "山田"),
    "Japanese in two code points": ("か\u3099っこう", "がっこう"),
    "Korean": ("등대지기는 김씨이다", "등대"),
    "Korean in two code points": (unicodedata.normalize("NFD", "등대지기"), "등대"),
    "Thai": ("ผู้ดูแลประภาคาร", "ประภาคาร"),
    "Hindi": ("नमस्ते दुनिया", "दुनिया"),
    "Arabic": ("حارس المنارة", "المنارة"),
    "full width": ("ＡＢＣ１２３", "abc123"),
    "a code": ("Ticket UNIQ-7781 is closed.", "UNIQ-7781"),
    "a number": ("The code is 4417.", "4417"),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_word_is_found_in_any_script(index, add, script):
    text, question = SCRIPTS[script]
    add(it=text, other="nothing of the kind", another="ganz anders, и здесь другое")
    assert found(index, question, retriever="lexical") == ["it"]


def test_a_title_and_a_heading_are_searched_with_the_text(index, add):
    add({"id": "a", "title": "Harbour rules", "text": "Nobody swims."}, {"id": "b", "text": "Somebody swims."})
    assert found(index, "harbour", retriever="lexical") == ["a"]


def test_the_words_of_a_deleted_or_replaced_document_find_nothing(index, add):
    add(a="alpha beta", b="gamma")
    add(a="delta")
    assert found(index, "beta", retriever="lexical") == []
    assert found(index, "delta", retriever="lexical") == ["a"]


def test_a_question_without_a_common_word_finds_nothing_and_says_so(index, add):
    add(a="alpha")
    result = index.search("default", "beta", 5, SearchOptions(retriever="lexical"))
    assert (result.hits, result.reason) == ((), "no_word_found")


@pytest.fixture(scope="module")
def table() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE VIRTUAL TABLE lexical USING fts5 (terms, tokenize = "unicode61 remove_diacritics 2")')
    return connection


OPERATORS = ["AND", "OR", "NOT", "NEAR(", '"', '""', "*", "^", "terms:", "-", "(", ")", "\0", "\ud800", "{a b}:", "+"]


@given(text=st.lists(st.one_of(st.text(max_size=8), st.sampled_from(OPERATORS)), max_size=12).map(" ".join))
@hypothesis_settings(max_examples=500, deadline=None)
def test_any_text_is_a_valid_query(text, table):
    terms = query_terms(text)
    lexical.telling(table, terms)
    if terms:
        table.execute("SELECT rowid FROM lexical WHERE lexical MATCH ?", (lexical.any_of(terms),)).fetchall()


def test_a_very_long_question_is_searched_by_its_first_words(index, add):
    add(a="alpha", b="omega")
    long = " ".join(f"word{number}" for number in range(5000))
    assert found(index, f"alpha {long}", retriever="lexical") == ["a"]


def test_the_commonest_words_are_left_out_where_they_would_cost_most(table, monkeypatch):
    monkeypatch.setattr(lexical, "MOST_ROWS", 10)
    table.execute("DELETE FROM lexical")
    texts = [f"the {'ferry' if number < 3 else 'mill'} {'keeper' if number < 6 else ''}" for number in range(30)]
    table.executemany("INSERT INTO lexical VALUES (?)", [(text,) for text in texts])
    assert lexical.telling(table, ['"the"', '"ferry"', '"keeper"', '"nowhere"']) == ['"ferry"', '"keeper"']
    assert lexical.telling(table, ['"the"', '"mill"']) == ['"mill"']
    assert lexical.telling(table, ['"the"']) == ['"the"']
    assert lexical.telling(table, ['"nowhere"']) == []


TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=0x9FFF), min_size=1, max_size=30)


@given(before=TEXT, word=st.text(st.sampled_from("明月光床前abкя9"), min_size=1, max_size=6), after=TEXT)
@hypothesis_settings(max_examples=300, deadline=None)
def test_a_word_is_found_wherever_it_stands(before, word, after, table):
    table.execute("DELETE FROM lexical")
    table.execute("INSERT INTO lexical VALUES (?)", (search_terms(f"{before} {word} {after}"),))
    for term in query_terms(word):
        assert table.execute("SELECT count(*) FROM lexical WHERE lexical MATCH ?", (term,)).fetchone() == (1,)


def bm25(texts: list[str], question: str) -> dict[int, float]:
    """Return BM25 as SQLite defines it, written anew: k1 1.2, b 0.75, and no word counts less than nothing."""
    documents = [re.findall(r"\w+", text.lower()) for text in texts]
    average = sum(map(len, documents)) / len(documents)
    scores: Counter[int] = Counter()
    for word in set(re.findall(r"\w+", question.lower())):
        holding = sum(word in document for document in documents)
        weight = max(math.log((len(documents) - holding + 0.5) / (holding + 0.5)), 1e-6)
        for number, document in enumerate(documents):
            count = document.count(word)
            if count:
                scores[number] += weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(document) / average))
    return dict(scores)


def test_the_ranking_is_bm25(index, add):
    words = ["ferry", "harbour", "mill", "bridge", "light", "guild"]
    texts = [" ".join(words[: number % 6 + 1] + [words[number % 4]] * (number % 3)) for number in range(24)]
    add(*({"id": f"{number:02}", "title": "x", "text": text} for number, text in enumerate(texts)))
    question = "the ff and the aa at the ee"
    expected = bm25([f"x {text}" for text in texts], question)
    hits = index.search("default", question, 50, SearchOptions(retriever="lexical", collapse=False)).hits
    assert {int(hit.document_id): pytest.approx(hit.score, rel=1e-6) for hit in hits} == expected
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_no_model_is_loaded_to_search_by_words(index, add, store):
    add(a="alpha beta")
    other = Index.open(store, "./no/such/model", IndexerSettings())
    assert found(other, "beta", retriever="lexical") == ["a"]
    other.close()
