"""Files that are copied, moved, changed, emptied and deleted: the index says what the disk says."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from corpus.errors import UsageError
from indexer.index import Index
from indexer.ingesting.deletion import delete
from indexer.ingesting.following import Watcher
from indexer.ingesting.ingest import ingest
from indexer.ingesting.options import IngestOptions
from indexer.ingesting.outcomes import FileRecord, Summary
from indexer.sources.sources import Sources

PAST = 1_700_000_000
DELETING = IngestOptions(delete_missing=True)
WORDS = "the ferry crosses the sound at nine and at noon, and costs four shells for those who live on the island"


@pytest.fixture
def run(store, settings, folder):
    """Return a function that ingests the folder, or what is given, and returns the summary and the records."""

    def run_(*paths, sources: Sources | None = None, **options) -> tuple[Summary, dict[str, FileRecord]]:
        records: list[FileRecord] = []
        summary = ingest(
            store,
            sources or paths or [folder],
            "default",
            settings=settings,
            options=IngestOptions(**options),
            watcher=Watcher(record=records.append),
        )
        return summary, {Path(record.path).name: record for record in records}

    return run_


def write(path: Path, text: str | bytes, *, time: int = PAST) -> Path:
    """Write a file that was changed long ago, so that its stamp is trusted."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (time, time))
    return path


def statuses(records: dict[str, FileRecord]) -> dict[str, str]:
    return {name: record.status for name, record in records.items()}


def texts(index: Index) -> list[str]:
    return sorted(index.document("default", row.id).text for row in index.documents("default", limit=1000))


def test_two_files_with_the_same_bytes_are_one_document_and_the_second_names_the_first(run, folder, index):
    write(folder / "a.txt", "same bytes")
    write(folder / "b.txt", "same bytes")
    _, records = run()
    assert statuses(records) == {"a.txt": "added", "b.txt": "duplicate"}
    assert records["b.txt"].duplicate_of == "a.txt"
    assert texts(index) == ["same bytes"]
    summary, records = run()
    assert statuses(records) == {"a.txt": "unchanged", "b.txt": "duplicate"}
    assert summary.files == {"unchanged": 1, "duplicate": 1}


@pytest.mark.parametrize("change", ["changed", "deleted from disk", "deleted from the index"])
def test_the_second_copy_is_indexed_once_the_first_is_gone(run, folder, index, store, settings, change):
    first = write(folder / "a.txt", "same bytes")
    write(folder / "b.txt", "same bytes")
    run()
    if change == "changed":
        write(first, "other bytes", time=PAST + 9)
    else:
        first.unlink()
    if change == "deleted from the index":
        delete(store, "default", ["a.txt"], settings)
    run()
    assert index.document("default", "b.txt").text == "same bytes"
    assert texts(index) == (["other bytes", "same bytes"] if change == "changed" else ["same bytes"])


def test_a_pipe_in_the_place_of_the_first_copy_is_not_waited_for(run, folder, index):
    first = write(folder / "a.txt", "same bytes")
    write(folder / "b.txt", "same bytes")
    run()
    first.unlink()
    os.mkfifo(first)
    assert statuses(run()[1]) == {"a.txt": "skipped", "b.txt": "added"}


def test_different_files_without_text_are_not_duplicates_of_each_other(run, folder):
    write(folder / "a.md", " \n")
    write(folder / "b.md", " \n \n")
    write(folder / "c.txt", "\n")
    _, records = run()
    assert statuses(records) == {"a.md": "skipped", "b.md": "skipped", "c.txt": "skipped"}
    assert {record.duplicate_of for record in records.values()} == {None}


def test_a_file_that_becomes_a_copy_of_another_loses_its_former_text(run, folder, index):
    write(folder / "a.md", "stays")
    second = write(folder / "b.md", "goes")
    run()
    write(second, "stays", time=PAST + 9)
    _, records = run()
    assert statuses(records) == {"a.md": "unchanged", "b.md": "duplicate"}
    assert texts(index) == ["stays"]


def test_a_file_that_was_renamed_is_moved_and_nothing_is_embedded_again(run, folder, index):
    write(folder / "old.md", WORDS).rename(folder / "new.md")
    write(folder / "old.md", WORDS)
    (folder / "new.md").unlink()
    run()
    (folder / "old.md").rename(folder / "new.md")
    summary, records = run()
    assert statuses(records) == {"new.md": "updated"}
    assert records["new.md"].reason == f"moved from {folder}/old.md"
    assert summary.embedded == 0
    assert [row.id for row in index.documents("default")] == ["new.md"]


def test_a_near_copy_is_indexed_and_names_what_it_is_like(run, folder):
    write(folder / "a.md", f"{WORDS} {WORDS.upper()} {WORDS[::-1]}")
    write(folder / "b.md", f"{WORDS} {WORDS.upper()} {WORDS[::-1]} yes")
    summary, records = run()
    assert statuses(records) == {"a.md": "added", "b.md": "added"}
    assert records["b.md"].near_duplicate_of == "a.md"
    assert records["b.md"].similarity >= 0.8
    assert summary.near_duplicates == 1


def test_a_file_whose_size_and_time_are_as_they_were_is_not_read(run, folder, index):
    path = write(folder / "a.md", "one")
    run()
    write(path, "two")
    assert statuses(run()[1]) == {"a.md": "unchanged"}
    assert statuses(run(reread=True)[1]) == {"a.md": "updated"}
    assert texts(index) == ["two"]


def test_a_file_that_was_changed_just_before_it_was_looked_at_is_read_again(run, folder, index):
    path = folder / "a.md"
    path.write_text("one")
    before = path.stat()
    run()
    path.write_text("two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert statuses(run()[1]) == {"a.md": "updated"}
    assert texts(index) == ["two"]


def test_a_document_that_was_deleted_comes_back_though_its_file_is_as_it_was(run, folder, store, settings, index):
    write(folder / "a.md", "text")
    write(folder / "b.md", "more")
    run()
    delete(store, "default", ["a.md"], settings)
    assert statuses(run()[1]) == {"a.md": "added", "b.md": "unchanged"}


def test_a_dry_run_says_what_would_happen_and_makes_no_store(run, folder, store):
    write(folder / "a.md", "text")
    write(folder / "b.md", "text")
    write(folder / "c.txt", b"\0")
    summary, records = run(dry_run=True)
    assert statuses(records) == {"a.md": "added", "b.md": "duplicate", "c.txt": "failed"}
    assert summary.dry_run
    assert not store.exists()


def test_a_dry_run_changes_nothing_that_is_there(run, folder, index):
    write(folder / "a.md", "text")
    write(folder / "gone.md", "gone")
    write(folder / "b.md", "more")
    before, _ = run()
    write(folder / "a.md", "changed", time=PAST + 9)
    (folder / "gone.md").unlink()
    summary, records = run(dry_run=True, delete_missing=True)
    assert statuses(records) == {"a.md": "updated", "b.md": "unchanged", "gone.md": "deleted"}
    assert texts(index) == ["gone", "more", "text"]
    assert summary.revision == before.revision


def test_after_as_many_failures_as_are_allowed_it_stops_and_keeps_what_is_done(run, folder, index):
    write(folder / "a.md", "kept")
    for name in ("b", "c", "d"):
        write(folder / f"{name}.txt", b"\0")
    write(folder / "e.md", "not reached")
    summary, records = run(max_errors=2)
    assert statuses(records) == {"a.md": "added", "b.txt": "failed", "c.txt": "failed"}
    assert summary.stopped
    assert texts(index) == ["kept"]


def test_without_text_is_a_failure_only_where_that_is_asked_for(run, folder):
    write(folder / "a.md", "")
    write(folder / "b.md", "text")
    assert statuses(run()[1]) == {"a.md": "skipped", "b.md": "added"}
    assert statuses(run()[1]) == {"a.md": "skipped", "b.md": "unchanged"}
    assert statuses(run(strict=True)[1]) == {"a.md": "failed", "b.md": "unchanged"}


def test_what_is_gone_from_disk_is_deleted_where_that_is_asked_for(run, folder, tmp_path, index):
    for name in "abcd":
        write(folder / f"{name}.md", f"text {name}")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(elsewhere / "e.md", "text e")
    run(folder, elsewhere)
    (folder / "a.md").unlink()
    (elsewhere / "e.md").unlink()
    summary, records = run(delete_missing=True)
    assert statuses(records) == {"a.md": "deleted", "b.md": "unchanged", "c.md": "unchanged", "d.md": "unchanged"}
    assert summary.deleted == 1
    assert texts(index) == ["text b", "text c", "text d", "text e"]
    assert all("text a" not in hit.text for hit in index.search("default", "text a", 10).hits)


def test_more_than_half_is_not_deleted_without_being_forced(run, folder, index):
    for name in "abc":
        write(folder / f"{name}.md", f"text {name}")
    run()
    for name in "abc":
        (folder / f"{name}.md").unlink()
    with pytest.raises(UsageError, match=r"3 of 3 documents are missing.*--force"):
        run(delete_missing=True)
    assert len(texts(index)) == 3
    summary, _ = run(delete_missing=True, force=True)
    assert (summary.deleted, texts(index)) == (3, [])


def test_a_line_that_is_gone_from_its_file_is_deleted_with_what_is_missing(run, folder, index):
    lines = [json.dumps({"id": id_, "text": f"text {id_}"}) for id_ in "abc"]
    path = write(folder / "a.jsonl", "\n".join(lines))
    run()
    write(path, "\n".join(lines[:2]), time=PAST + 9)
    assert run()[0].deleted == 0
    assert run(delete_missing=True, reread=True)[0].deleted == 1
    assert texts(index) == ["text a", "text b"]


def test_a_file_that_cannot_be_read_is_not_missing(run, folder, index):
    write(folder / "a.md", "one")
    write(folder / "b.md", "two")
    run()
    write(folder / "a.md", b"\0", time=PAST + 9)
    summary, records = run(delete_missing=True)
    assert (summary.deleted, records["a.md"].status) == (0, "failed")
    assert records["a.md"].reason.endswith("; the index keeps what it said before")
    assert texts(index) == ["one", "two"]


def test_a_jsonl_file_with_a_malformed_line_is_one_record_with_its_line(run, folder, index):
    write(folder / "a.jsonl", b'\xef\xbb\xbf{"id":"a","text":"a"}\r\n{bad\r\n\r\n{"id":"b","text":"b"}')
    summary, records = run()
    record = records["a.jsonl"]
    assert (record.status, record.documents) == ("added", {"added": 2, "failed": 1})
    assert [problem["line"] for problem in record.problems] == [2]
    assert (summary.added, summary.failed, summary.files) == (2, 1, {"added": 1})
    assert texts(index) == ["a", "b"]


def test_a_copy_of_a_jsonl_file_is_a_duplicate_line_by_line(run, folder, index):
    line = json.dumps({"id": "a", "text": "a"})
    write(folder / "a.jsonl", line)
    write(folder / "b.jsonl", line)
    _, records = run()
    assert statuses(records) == {"a.jsonl": "added", "b.jsonl": "duplicate"}
    assert statuses(run()[1]) == {"a.jsonl": "unchanged", "b.jsonl": "duplicate"}


def test_odd_files_are_passed_over_each_with_its_reason(run, folder):
    write(folder / "good.md", "text")
    write(folder / "empty.md", "")
    write(folder / "blank.md", " \n\t ")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.md")
    write(folder / "two\nlines.md", "text of two lines")
    (Path(os.fsencode(folder).decode()) / os.fsdecode(b"caf\xe9.md")).write_text("text of a name")
    _, records = run()
    assert records.pop("good.md").status == "added"
    assert {name: (record.status, record.reason) for name, record in records.items()} == {
        "empty.md": ("skipped", "no text"),
        "blank.md": ("skipped", "no text"),
        "loop": ("skipped", "a symbolic link"),
        "pipe.md": ("skipped", "no regular file"),
        "two\nlines.md": ("skipped", "a name with characters that cannot be printed"),
        "caf\\xe9.md": ("skipped", "a name with characters that cannot be printed"),
    }


def test_patterns_choose_files_as_gitignore_does(run, folder, index):
    (folder / "drafts").mkdir()
    for name in ("a.md", "b.txt", "c.md", "drafts/d.md"):
        write(folder / name, f"text {name}")
    run(sources=Sources([folder], include=["*.md"], exclude=["drafts/", "c.*"]))
    assert [row.id for row in index.documents("default")] == ["a.md"]


def test_a_glob_takes_what_it_matches_with_ids_below_the_folder_it_begins_in(run, folder, index):
    (folder / "sub").mkdir()
    for name in ("a.md", "b.txt", "sub/c.md"):
        write(folder / name, f"text {name}")
    run(f"{folder}/**/*.md")
    assert [row.id for row in index.documents("default")] == ["a.md", "sub/c.md"]
    with pytest.raises(UsageError, match=r"No documents in '.*\*\.pdf'"):
        run(f"{folder}/*.pdf")


def test_a_document_from_stdin_gets_its_id_and_format_from_the_name_it_is_given(run, index):
    source = Sources(["-"], stdin_name="notes.md", read_stdin=lambda: b"# Notes\n\ntext")
    _, records = run(sources=source)
    assert records["stdin:notes.md"].status == "added"
    assert index.document("default", "notes.md").title == "Notes"
    assert run(sources=source)[1]["stdin:notes.md"].status == "unchanged"
    with pytest.raises(UsageError, match="--stdin-name"):
        Sources(["-"])


def test_what_documents_do_not_say_is_taken_from_the_command_line(run, folder, store, settings, index):
    from datetime import date

    from indexer.ingesting.options import Provenance

    write(folder / "a.md", "---\nauthority: 3\nteam: mine\n---\ntext")
    write(folder / "b.md", "other")
    said = Provenance(date(2024, 5, 1), 7, "old", {"team": "harbour"})
    run(provenance=said)
    rows = {row.id: row for row in index.documents("default")}
    assert (rows["a.md"].authority, rows["b.md"].authority) == (3, 7)
    assert (rows["a.md"].metadata, rows["b.md"].metadata) == ({"team": "mine"}, {"team": "harbour"})
    assert (str(rows["b.md"].effective), rows["b.md"].supersedes) == ("2024-05-01", "old")
    assert statuses(run(provenance=said)[1]) == {"a.md": "unchanged", "b.md": "unchanged"}
    assert statuses(run()[1]) == {"a.md": "updated", "b.md": "updated"}


NAMES = st.sampled_from([f"{name}.md" for name in "abcde"])
TEXTS = st.sampled_from(["one", "two", "three", "four"])
STEPS = st.lists(
    st.lists(
        st.one_of(
            st.tuples(st.just("write"), NAMES, TEXTS),
            st.tuples(st.just("move"), NAMES, NAMES),
            st.tuples(st.just("copy"), NAMES, NAMES),
            st.tuples(st.just("delete"), NAMES, NAMES),
        ),
        max_size=5,
    ),
    min_size=1,
    max_size=5,
)


def check_that_the_index_follows(steps, settings) -> None:
    base = Path(tempfile.mkdtemp())
    folder, store = base / "documents", base / "store"
    folder.mkdir()
    write(folder / "kept.md", "kept")
    time = PAST
    try:
        for step in steps:
            for what, name, other in step:
                time += 9
                source = folder / name
                if what == "write":
                    write(source, other, time=time)
                elif not source.exists():
                    continue
                elif what == "delete":
                    source.unlink()
                elif what == "move":
                    source.rename(folder / other)
                elif name != other:
                    shutil.copy2(source, folder / other)
            ingest(
                store, [folder], "default", settings=settings, options=IngestOptions(delete_missing=True, force=True)
            )
            index = Index.open(store, settings=settings)
            assert texts(index) == sorted({path.read_text() for path in folder.iterdir()})
            rows = index.documents("default")
            assert all((folder / row.id).read_text() == index.document("default", row.id).text for row in rows)
            index.close()
    finally:
        shutil.rmtree(base)


@pytest.fixture(scope="module")
def loaded(tiny_path):
    """Return settings whose model is loaded once."""
    from indexer.settings import IndexerSettings

    return IndexerSettings(embedder=str(tiny_path), chunk_tokens=40, embedder_threads=1, parser_workers=0)


@pytest.fixture
def one_embedder(tiny, monkeypatch):
    monkeypatch.setattr("indexer.embedding.embedders.Embedder.load", lambda *_: tiny)


@pytest.mark.slow
def test_the_index_holds_each_text_of_the_folder_once_whatever_is_done_to_its_files_at_length(loaded, one_embedder):
    hypothesis_settings(max_examples=1000, deadline=None)(
        given(STEPS)(lambda steps: check_that_the_index_follows(steps, loaded))
    )()


def test_the_index_holds_each_text_of_the_folder_once_whatever_is_done_to_its_files(loaded, one_embedder):
    hypothesis_settings(max_examples=30, deadline=None)(
        given(STEPS)(lambda steps: check_that_the_index_follows(steps, loaded))
    )()
