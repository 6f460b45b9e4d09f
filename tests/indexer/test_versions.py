"""Every document keeps its versions: what held on a day can be asked, and nothing is embedded twice."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import date

import pytest
from click.testing import CliRunner

from corpus.schema import Document
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from indexer.search.scope import Scope
from indexer.store import queries
from indexer.store.database import connect
from indexer.store.records import FileStamp, NewVersion
from indexer.store.writer import open_writer
from openbook import cli
from tests.indexer.test_store import DIMENSION, FINGERPRINT, version


def dated(id_: str, text: str, effective: str | None = None, supersedes: str | None = None) -> NewVersion:
    new = version(id_, text)
    day = date.fromisoformat(effective) if effective else None
    return NewVersion(
        Document(id=id_, text=text, effective=day, supersedes=supersedes), "source", "hash", "recipe", new.chunks
    )


@pytest.fixture
def writer(store):
    with open_writer(store, 0) as opened:
        opened.add_collection("default", FINGERPRINT)
        yield opened


def texts_as_of(writer, day: str) -> list[str]:
    ids = Scope("default", as_of=date.fromisoformat(day)).ids(writer.connection)
    rows = queries.passages(writer.connection, ids, "default", live=False)
    return [rows[id_].text for id_ in ids]


def test_on_a_day_the_version_with_the_latest_effective_date_before_it_held(writer):
    for effective, text in [("2021-01-01", "first"), ("2023-06-15", "third"), ("2022-01-01", "second, known late")]:
        writer.put("default", [dated("a", text, effective)])
    writer.put("default", [dated("b", "other", "2022-05-05")])
    assert texts_as_of(writer, "2020-12-31") == []
    assert texts_as_of(writer, "2021-01-01") == ["first"]
    assert texts_as_of(writer, "2022-04-01") == ["second, known late"]
    assert texts_as_of(writer, "2023-06-14") == ["second, known late", "other"]
    assert texts_as_of(writer, "2023-06-15") == ["third", "other"]
    keys = {day: queries.version_as_of(writer.connection, "default", "a", date.fromisoformat(day))
            for day in ("2020-12-31", "2022-04-01", "2030-01-01")}  # fmt: skip
    assert keys == {"2020-12-31": None, "2022-04-01": 3, "2030-01-01": 2}


def test_a_version_without_an_effective_date_holds_from_the_day_it_was_indexed(writer):
    writer.put("default", [dated("a", "undated")])
    day = queries.versions(writer.connection, "default", "a")[0].indexed.date()
    assert texts_as_of(writer, day.isoformat()) == ["undated"]
    assert texts_as_of(writer, date.fromordinal(day.toordinal() - 1).isoformat()) == []


def test_of_two_versions_of_one_day_the_later_correction_holds(writer):
    writer.put("default", [dated("a", "wrong", "2022-01-01")])
    writer.put("default", [dated("a", "corrected", "2022-01-01")])
    assert texts_as_of(writer, "2022-01-01") == ["corrected"]


def test_versions_are_listed_with_when_they_ended_and_can_be_read(writer):
    writer.put("default", [dated("a", "first")])
    writer.put("default", [dated("a", "second")])
    newest, oldest = queries.versions(writer.connection, "default", "a")
    assert (newest.version, newest.current, newest.ended) == (2, True, None)
    assert (oldest.version, oldest.current, oldest.chunk_count) == (1, False, 1)
    assert oldest.ended is not None
    assert oldest.ended >= oldest.indexed
    old = queries.document(writer.connection, "default", "a", version=1)
    assert old is not None
    assert (old.text, [chunk.text for chunk in old.chunks]) == ("first", ["first"])
    assert queries.document(writer.connection, "default", "a", version=99) is None
    assert queries.versions(writer.connection, "default", "unknown") == ()


def test_passages_of_the_past_are_read_only_where_they_are_asked_for(writer):
    writer.put("default", [dated("a", "first")])
    writer.put("default", [dated("a", "second")])
    assert queries.passages(writer.connection, [1, 2], "default").keys() == {2}
    assert queries.passages(writer.connection, [1, 2], "default", live=False).keys() == {1, 2}
    ids, vectors = queries.vectors_of(writer.connection, [2, 1, 77], DIMENSION)
    assert (ids.tolist(), vectors.shape) == ([1, 2], (2, DIMENSION))


def test_a_document_is_superseded_by_what_says_so_now(writer):
    superseding = Scope("default").superseding
    writer.put(
        "default", [dated("old", "x"), dated("new", "y", supersedes="old"), dated("self", "z", supersedes="self")]
    )
    assert superseding(writer.connection, ["old", "new", "self"]) == {"old": ("new",)}
    writer.put("default", [dated("newer", "w", supersedes="old")])
    assert superseding(writer.connection, ["old"]) == {"old": ("new", "newer")}
    writer.put("default", [dated("new", "y"), dated("newer", "w")])
    assert superseding(writer.connection, ["old"]) == {}


def test_a_deleted_document_takes_the_stamps_of_its_files_along(writer):
    writer.put("default", [dated("a", "first")])
    stamp = FileStamp("source", 5, 1, "hash", "recipe", "{}")
    other = FileStamp("other", 6, 2, "hash2", "recipe", "{}")
    writer.put_file_stamps("default", [stamp, other])
    writer.put_file_stamps("default", [stamp])
    assert queries.file_stamps(writer.connection, "default") == {"source": stamp, "other": other}
    writer.delete("default", ["a"])
    assert queries.file_stamps(writer.connection, "default") == {"other": other}
    writer.drop_file_stamps("default", ["other"])
    assert queries.file_stamps(writer.connection, "default") == {}


def test_a_change_of_metadata_alone_embeds_nothing(store, settings, tmp_path):
    path = tmp_path / "d.jsonl"
    document = {
        "id": "a",
        "text": "".join(f"sentence {number} of some words. " for number in range(20)),
        "title": "One",
        "authority": 1,
    }
    path.write_text(json.dumps(document))
    first = ingest(store, [path], "default", settings=settings)
    assert first.embedded > 1
    path.write_text(json.dumps(document | {"title": "Two", "authority": 9, "effective": "2024-02-03"}))
    second = ingest(store, [path], "default", settings=settings)
    assert (second.updated, second.embedded, second.chunks) == (1, 0, first.chunks)
    with closing(Index.open(store, settings=settings)) as index:
        detail = index.document("default", "a")
    assert (detail.title, detail.authority, detail.effective) == ("Two", 9, date(2024, 2, 3))


def test_known_vectors_are_asked_for_in_batches(writer):
    writer.put("default", [version(f"d{number}", f"text {number % 700}") for number in range(1400)])
    asked: list[str] = []
    writer.connection.set_trace_callback(lambda sql: asked.append(sql) if "text_hash IN" in sql else None)
    found = queries.known_vectors(writer.connection, "default", [f"text {number}".encode() for number in range(800)])
    assert len(found) == 700
    assert len(asked) == 2


def test_documents_are_found_by_the_bytes_they_were_read_from(store):
    with closing(connect(store)):
        pass
    with open_writer(store, 0) as writer:
        writer.add_collection("default", FINGERPRINT)
        writer.put("default", [version("a"), version("b")])
        found = queries.documents_of_source_hashes(writer.connection, "default", ["hash", "unknown"])
        assert found == {"hash": [("a", "source"), ("b", "source")]}
        assert queries.documents_of_source_hashes(writer.connection, "other", ["hash"]) == {}


def test_versions_are_listed_and_shown_at_the_command_line(store, settings, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBOOK_HOME", str(tmp_path))
    path = tmp_path / "a.jsonl"
    for text, effective in [("the old rule", "2021-01-01"), ("the new rule", "2023-01-01")]:
        path.write_text(json.dumps({"id": "a", "text": text, "effective": effective}))
        ingest(tmp_path / "store", [path], "default", settings=settings)

    def run(*arguments: str):
        return CliRunner().invoke(cli, ["documents", *arguments], standalone_mode=False)

    newest, oldest = run("versions", "a").stdout.splitlines()
    assert newest.startswith("2  indexed ")
    assert ", current, effective 2023-01-01  (1 chunk, 12 characters)" in newest
    assert ", until " in oldest
    assert [json.loads(line)["current"] for line in run("versions", "a", "--json").stdout.splitlines()] == [True, False]
    assert run("show", "a").stdout.endswith("the new rule\n")
    assert run("show", "a", "--version", "1").stdout.endswith("the old rule\n")
    assert run("show", "a", "--as-of", "2022-06-01").stdout.endswith("the old rule\n")
    assert json.loads(run("show", "a", "--as-of", "2024-01-01", "--json").stdout)["text"] == "the new rule"
    assert "has the versions 1 of 2021-01-01, 2 of 2023-01-01" in str(
        run("show", "a", "--as-of", "2020-01-01").exception
    )
    assert "has no such version" in str(run("show", "a", "--version", "7").exception)
    assert "Did you mean 'a'" in str(run("versions", "aa").exception)
    assert "give one of them" in str(run("show", "a", "--version", "1", "--as-of", "2022-01-01").exception)
