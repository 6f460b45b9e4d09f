"""Metadata filters: what they say is what is searched, and nothing else ever is."""

from __future__ import annotations

import json
import operator
import sqlite3
from datetime import date

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from indexer.errors import FilterRefused
from indexer.ingesting.deletion import delete
from indexer.search.filters import MOST_CONDITIONS, compile_filter
from indexer.search.options import SearchOptions
from indexer.search.scope import TABLES
from indexer.store.database import TABLES as SCHEMA
from tests.indexer.search.conftest import found

TEAMS = ["harbour", "mill", ""]
NUMBERS = ["3", "12", "-1.5", "1e2", "007", "twelve", "2024-05-01"]
DATES = ["2023-12-31", "2024-05-01", "2025-01-01"]
TIMES = ["2026-01-01T00:00:00+00:00", "2026-02-03T04:05:06+00:00"]

Row = dict[str, object]


def rows() -> list[Row]:
    """Return chunks of every kind: each field there or missing, each spelling of a number."""
    made: list[Row] = []
    for number in range(60):
        metadata = {}
        if number % 4:
            metadata["team"] = TEAMS[number % 3]
        if number % 5:
            metadata["level"] = NUMBERS[number % 7]
        if number % 7 == 0:
            metadata['odd "key"'] = "x"
        made.append(
            {
                "id": f"d{number}",
                "title": ["Ferry", "Äpfel", ""][number % 3],
                "source": f"docs/{'ab'[number % 2]}/{number}.md",
                "authority": number % 4,
                "effective": None if number % 3 == 0 else DATES[number % 3],
                "indexed": TIMES[number % 2],
                "page": None if number % 2 else number % 5 + 1,
                "metadata": metadata,
            }
        )
    return made


ROWS = rows()


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    connection.execute("INSERT INTO collections (name, fingerprint) VALUES ('default', '')")
    columns = ["document", "text", "content_hash", "title", "effective", "authority", "metadata", "source"]
    columns += ["source_hash", "recipe", "indexed", "layout"]
    for key, row in enumerate(ROWS, 1):
        connection.execute("INSERT INTO documents VALUES (?, 'default', ?, ?)", (key, row["id"], key))
        values = [key, "", "", row["title"], row["effective"], row["authority"], json.dumps(row["metadata"])]
        values += [row["source"], "", "", row["indexed"], "{}"]
        connection.execute(
            f"INSERT INTO versions ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", values
        )
        connection.execute("INSERT INTO chunks VALUES (?, ?, 0, 0, 0, '', '', '[]', ?, x'')", (key, key, row["page"]))
    return connection


def selected(database: sqlite3.Connection, filter_: dict[str, object]) -> set[str]:
    clause = compile_filter(filter_, None)
    found_ = database.execute(f"SELECT d.id FROM {TABLES} WHERE {clause.sql}", clause.parameters)
    return {row[0] for row in found_}


def holds(filter_: dict[str, object], row: Row) -> bool:
    """Evaluate a filter the plain way, for one row."""
    results = []
    for name, value in filter_.items():
        if name == "not":
            results.append(not holds(value, row))
        elif name in ("and", "or"):
            results.append((all if name == "and" else any)(holds(each, row) for each in value))
        else:
            conditions = value if isinstance(value, dict) else {"eq": value}
            results.append(all(condition(name, *each, row) for each in conditions.items()))
    return all(results)


def condition(name: str, operator_: str, operand: object, row: Row) -> bool:
    if operator_ in ("ne", "not_in"):
        return not condition(name, {"ne": "eq", "not_in": "in"}[operator_], operand, row)
    is_metadata = name not in row or name.startswith("metadata.")
    value = row["metadata"].get(name.removeprefix("metadata.")) if is_metadata else row[name]
    if operator_ == "exists":
        return (value is not None) == operand
    if value is None:
        return False
    if operator_ == "in":
        return any(condition(name, "eq", each, row) for each in operand)
    if operator_ == "prefix":
        return value.startswith(operand)
    if name == "indexed":
        operand = operand if "T" in operand else f"{operand}T00:00:00+00:00"
    sign = {"eq": operator.eq, "gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}[operator_]
    if not is_metadata or (operator_ == "eq" and isinstance(operand, str)):
        return sign(value, operand)
    one, other = number(value), number(operand)
    if (one is None) != (other is None):
        return False
    return sign(value, operand) if one is None else sign(one, other)


def number(value: object) -> float | None:
    """Numbers are what JSON takes for one: "007" and "1." are texts."""
    if isinstance(value, str):
        if value.startswith(("+", ".")) or (value.lstrip("-")[:1] == "0" and value.lstrip("-")[1:2].isdigit()):
            return None
        try:
            return float(value)
        except ValueError:
            return None
    return float(value)


RANGES = st.sampled_from(["gt", "gte", "lt", "lte", "eq", "ne"])


def conditions(name: str, values: list[object], operators: st.SearchStrategy[str] = RANGES) -> st.SearchStrategy[dict]:
    value = st.sampled_from(values)
    return st.one_of(
        st.builds(lambda each: {name: each}, value),
        st.builds(lambda each, of: {name: {each: of}}, operators, value),
        st.builds(lambda each, of: {name: {each: of}}, st.sampled_from(["in", "not_in"]), st.lists(value, max_size=3)),
        st.builds(lambda each: {name: {"exists": each}}, st.booleans()),
        st.builds(lambda low, high: {name: {"gte": low, "lt": high}}, value, value),
    )


LEAVES = st.one_of(
    conditions("team", [*TEAMS, "nobody"]),
    conditions("level", [*NUMBERS, 3, 12, -1.5, 100, "3.0", "zz"]),
    conditions("metadata.level", [3, "3"]),
    conditions('odd "key"', ["x", "y"]),
    conditions("id", ["d1", "d2", "d30", "zz"]),
    conditions("title", ["Ferry", "Äpfel", ""]),
    conditions("authority", [0, 1, 2.5, 3]),
    conditions("effective", DATES),
    conditions("indexed", [*TIMES, "2026-01-02"]),
    conditions("page", [1, 2, 5]),
    st.builds(lambda start: {"source": {"prefix": start}}, st.sampled_from(["docs/a", "docs/", "x", ""])),
)
FILTERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda each: {"not": each}, inner),
        st.builds(lambda each: {"and": each}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda each: {"or": each}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda one, other: {**one, **other}, inner, inner),
    ),
    max_leaves=8,
)


@given(filter_=FILTERS)
@hypothesis_settings(max_examples=300, deadline=None)
def test_a_filter_selects_what_a_plain_evaluation_selects(filter_, database):
    assert selected(database, filter_) == {row["id"] for row in ROWS if holds(filter_, row)}


@given(one=FILTERS, other=FILTERS)
@hypothesis_settings(max_examples=150, deadline=None)
def test_filters_are_an_algebra_of_sets(one, other, database):
    everything = {row["id"] for row in ROWS}
    a, b = selected(database, one), selected(database, other)
    assert selected(database, {"and": [one, other]}) == a & b
    assert selected(database, {"or": [one, other]}) == a | b
    assert selected(database, {"not": one}) == everything - a
    assert selected(database, {"not": {"and": [one, other]}}) == selected(
        database, {"or": [{"not": one}, {"not": other}]}
    )
    assert selected(database, {"not": {"or": [one, other]}}) == selected(
        database, {"not": one, "and": [{"not": other}]}
    )


@pytest.mark.slow
@given(filter_=FILTERS)
@hypothesis_settings(max_examples=10_000, deadline=None)
def test_ten_thousand_filters_select_what_a_plain_evaluation_selects(filter_, database):
    assert selected(database, filter_) == {row["id"] for row in ROWS if holds(filter_, row)}


REFUSED: dict[str, tuple[object, str]] = {
    "nothing": ({}, "at least one condition"),
    "a list": ([], "at least one condition"),
    "empty and": ({"and": []}, "'and' takes a list of at least one filter"),
    "empty or": ({"or": []}, "'or' takes a list of at least one filter"),
    "empty inside": ({"not": {}}, "at least one condition"),
    "no operator": ({"id": {}}, "no operator"),
    "unknown field": ({"teem": "harbour"}, "Did you mean 'team'?"),
    "unknown field inside": ({"not": {"or": [{"titel": "x"}]}}, "Did you mean 'title'?"),
    "unknown operator": ({"team": {"equals": "x"}}, "Known: eq, ne, in"),
    "misspelt operator": ({"team": {"nin": ["x"]}}, "Did you mean 'in'?"),
    "null": ({"team": None}, "must be a text"),
    "list without in": ({"team": ["a"]}, "must be a text"),
    "in without a list": ({"id": {"in": "a"}}, "must be a list of values"),
    "number for a text": ({"title": 3}, "must be a text"),
    "text for a number": ({"authority": "high"}, "must be a number"),
    "true for a number": ({"page": True}, "must be a number"),
    "no date": ({"effective": {"gte": "yesterday"}}, "must be a date"),
    "no time": ({"indexed": {"lt": "noon"}}, "must be a time"),
    "not finite": ({"team": {"lt": float("nan")}}, "must be a number"),
    "too large": ({"authority": 10**400}, "must be a number"),
    "no Unicode": ({"team": "\ud800"}, "valid Unicode"),
    "prefix of a number": ({"page": {"prefix": "1"}}, "works on texts"),
    "exists yes": ({"team": {"exists": "yes"}}, "true or false"),
    "too many": ({"or": [{"id": "x"}] * (MOST_CONDITIONS + 1)}, "more than 200 conditions"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_malformed_filter_is_refused_with_what_there_is(case):
    filter_, message = REFUSED[case]
    with pytest.raises(FilterRefused) as refused:
        compile_filter(filter_, {"team", "level"})
    assert message in str(refused.value)


def test_a_filter_that_is_too_deep_is_refused():
    filter_: dict[str, object] = {"id": "x"}
    for _ in range(2000):
        filter_ = {"not": filter_}
    with pytest.raises(FilterRefused, match="levels deep"):
        compile_filter(filter_, set())


@pytest.mark.parametrize("size", [MOST_CONDITIONS])
def test_the_largest_filters_that_are_allowed_run(database, size):
    assert selected(database, {"or": [{"team": "harbour"}] * size}) == selected(database, {"team": "harbour"})
    assert len(selected(database, {"id": {"in": [f"d{number}" for number in range(10_000)]}})) == len(ROWS)
    deep: dict[str, object] = {"team": "harbour"}
    for _ in range(16):
        deep = {"not": deep}
    assert selected(database, deep) == selected(database, {"team": "harbour"})


@pytest.mark.parametrize("value", ["'", '"; DROP TABLE chunks; --', "%", "_", "\\", "🦆", "\n"])
def test_nothing_in_a_value_is_taken_for_sql(database, value):
    assert selected(database, {"team": value, "title": value, value: value}) == set()


DOCUMENTS = (
    {"id": "a", "text": "the ferry leaves at six", "metadata": {"team": "harbour", "year": "2024"}, "authority": 2},
    {"id": "b", "text": "the ferry leaves at nine", "metadata": {"team": "mill", "year": "2025"}},
    {"id": "c", "text": "the mill is closed", "effective": "2025-02-01"},
)


@pytest.mark.parametrize("retriever", ["dense", "lexical", "hybrid"])
def test_every_retriever_keeps_to_the_filter(index, add, retriever):
    add(*DOCUMENTS)
    assert set(found(index, "the ferry", retriever=retriever)) == {"a", "b", "c"}
    assert found(index, "the ferry", retriever=retriever, filter={"team": "harbour"}) == ["a"]
    assert found(index, "the ferry", retriever=retriever, filter={"year": {"gt": 2024}}) == ["b"]
    assert found(index, "the mill", retriever=retriever, filter={"effective": {"gte": date(2025, 1, 1)}}) == ["c"]
    assert set(found(index, "the ferry", retriever=retriever, filter={"team": {"ne": "mill"}})) == {"a", "c"}


@pytest.mark.parametrize("retriever", ["dense", "lexical", "hybrid"])
def test_a_filter_that_matches_nothing_returns_nothing(index, add, retriever):
    add(*DOCUMENTS)
    result = index.search("default", "the ferry", 5, SearchOptions(retriever=retriever, filter={"team": "nobody"}))
    assert (result.hits, result.reason) == ((), "filter_matches_nothing")


def test_an_unknown_metadata_key_is_an_error_that_names_the_known_ones(index, add):
    add(*DOCUMENTS)
    with pytest.raises(FilterRefused, match=r"Did you mean 'team'.*Known: id, title, .*, team, year"):
        found(index, "the ferry", filter={"teem": "harbour"})


def test_in_an_empty_collection_no_key_can_be_misspelt(index, add, store, settings):
    add(a="one")
    delete(store, "default", ["a"], settings)
    assert found(index, "one", filter={"team": "harbour"}) == []
