"""Ingest: every document accounted for, nothing done twice, nothing lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from corpus.errors import UsageError
from indexer.embedding import Embedder
from indexer.errors import EmbedderMismatch, StoreLocked
from indexer.ingesting import ingest as ingest_module
from indexer.ingesting.following import Watcher
from indexer.ingesting.ingest import ingest
from indexer.ingesting.outcomes import Outcome, Summary
from indexer.parsing import PARSERS
from indexer.settings import IndexerSettings
from indexer.store.lock import writer_lock
from tests.indexer.conftest import make_tiny_embedder


@pytest.fixture
def run(store, settings):
    """Return a function that ingests and returns the summary with all outcomes."""

    def run_(*paths: Path, **options) -> tuple[Summary, list[Outcome]]:
        outcomes: list[Outcome] = []
        options.setdefault("settings", settings)
        return ingest(store, paths, "default", watcher=Watcher(report=outcomes.append), **options), outcomes

    return run_


def counts(summary: Summary) -> dict[str, int]:
    names = ("added", "updated", "unchanged", "skipped", "failed")
    return {name: getattr(summary, name) for name in names if getattr(summary, name)}


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)


def test_the_same_folder_again_changes_nothing_and_loads_no_model(run, folder, monkeypatch):
    write(folder, a="ferry", b="harbour")
    first, _ = run(folder)
    monkeypatch.setattr(Embedder, "load", None)
    second, outcomes = run(folder)
    assert (counts(first), counts(second)) == ({"added": 2}, {"unchanged": 2})
    assert (first.generation, second.generation) == (1, 1)
    assert [(outcome.id, outcome.status) for outcome in outcomes] == [("a.md", "unchanged"), ("b.md", "unchanged")]


def test_a_changed_file_replaces_its_old_version(run, folder, index):
    write(folder, a="the ferry costs four shells", b="harbour")
    run(folder)
    write(folder, a="the ferry costs nine shells")
    summary, _ = run(folder)
    assert counts(summary) == {"updated": 1, "unchanged": 1}
    assert index.document("default", "a.md").text == "the ferry costs nine shells"
    hits = index.search("default", "the ferry costs four shells", 10).hits
    assert sorted(hit.text for hit in hits) == ["harbour", "the ferry costs nine shells"]


def test_a_chunk_whose_text_is_known_is_not_embedded_again(run, folder):
    paragraphs = [f"paragraph {letter * 12} ends." for letter in "abcdefgh"]
    write(folder, a="\n\n".join(paragraphs))
    first, _ = run(folder)
    write(folder, a="\n\n".join([*paragraphs[:-1], "another ending xyz."]))
    second, _ = run(folder)
    assert first.embedded == first.chunks == second.chunks
    assert second.embedded == 1


def test_another_chunk_length_cuts_known_documents_anew(run, folder, settings):
    write(folder, a="some words that are cut " * 10)
    first, _ = run(folder)
    second, _ = run(folder, settings=settings.model_copy(update={"chunk_tokens": 20}))
    assert counts(second) == {"updated": 1}
    assert second.chunks > first.chunks


def test_chunks_are_never_longer_than_the_embedder_reads(run, folder, settings, tiny, index):
    write(folder, a="code " * 100 + "the code is 4417")
    run(folder, settings=settings.model_copy(update={"chunk_tokens": 100_000}))
    chunks = index.document("default", "a.md").chunks
    assert max(chunk.tokens for chunk in chunks) <= tiny.passage_tokens
    assert chunks[-1].text.endswith("4417")
    assert all(chunk.text == index.document("default", "a.md").text[chunk.start : chunk.end] for chunk in chunks)


def test_one_bad_file_never_stops_the_others(run, folder, index):
    write(folder, good="fine", alsogood="fine too")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    (folder / "nul.txt").write_bytes(b"foo\0bar")
    (folder / "noise.txt").write_bytes(bytes(range(256)) * 4)
    (folder / "lines.jsonl").write_text('{"id":"one","text":"line"}\n{bad\n')
    summary, outcomes = run(folder)
    assert counts(summary) == {"added": 4, "failed": 3}
    failed = {outcome.path.rsplit("/")[-1]: outcome.reason for outcome in outcomes if outcome.status == "failed"}
    assert failed.keys() == {"nul.txt", "noise.txt", "lines.jsonl"}
    assert all(failed.values())
    assert index.count_documents("default") == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_a_failure_of_its_own(run, folder):
    write(folder, good="fine", secret="hidden")
    (folder / "secret.md").chmod(0)
    summary, _ = run(folder)
    assert counts(summary) == {"added": 1, "failed": 1}


def test_a_parser_that_breaks_fails_its_file_alone(run, folder, monkeypatch):
    def broken(file, limits):
        raise ZeroDivisionError("by zero")
        yield

    write(folder, good="fine")
    (folder / "bad.txt").write_text("x")
    monkeypatch.setitem(PARSERS, ".txt", broken)
    summary, outcomes = run(folder)
    assert counts(summary) == {"added": 1, "failed": 1}
    assert "ZeroDivisionError: by zero" in str([outcome.reason for outcome in outcomes])


def test_hidden_files_links_and_other_formats_are_passed_over_with_a_reason(run, folder):
    write(folder, a="text")
    for hidden in (".git", ".venv", "node_modules"):
        (folder / hidden).mkdir()
        write(folder / hidden, hidden="text")
    (folder / ".hidden.md").write_text("text")
    (folder / "loop").symlink_to(folder)
    (folder / "link.md").symlink_to(folder / "a.md")
    (folder / "picture.PNG").write_bytes(b"png")
    (folder / "LICENSE").write_text("text")
    (folder / "blank.md").write_text(" \n\t\n")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "questions.jsonl").write_text('{"id": "q", "question": "?", "answers": ["a"]}\n')
    (folder / "two\nlines.md").write_text("text")
    summary, _ = run(folder)
    assert counts(summary) == {"added": 1, "skipped": 8}
    assert summary.skipped_because == {
        "a symbolic link": 2,
        "no text": 2,
        ".png files are not read": 1,
        "no suffix that says its format": 1,
        "the questions of a corpus": 1,
        "a name with characters that cannot be printed": 1,
    }


def test_ids_are_paths_below_the_folder_that_was_named(run, folder, index):
    (folder / "sub").mkdir()
    write(folder / "sub", deep="text")
    write(folder, top="text of the top")
    run(folder)
    assert [row.id for row in index.documents("default")] == ["sub/deep.md", "top.md"]
    assert index.document("default", "sub/deep.md").source == (folder / "sub/deep.md").as_posix()


def test_two_files_of_one_id_do_not_overwrite_each_other_unnoticed(run, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, same=f"text of {name}")
    summary, outcomes = run(tmp_path / "one", tmp_path / "two")
    assert counts(summary) == {"added": 1, "failed": 1}
    assert "taken by" in str(outcomes)
    summary, outcomes = run(tmp_path / "two")
    assert counts(summary) == {"updated": 1}
    assert outcomes[0].reason == f"replaces the document from {tmp_path}/one/same.md"


def test_a_file_that_is_named_twice_is_read_once(run, folder):
    write(folder, a="text")
    summary, _ = run(folder, folder / "a.md", folder)
    assert counts(summary) == {"added": 1}


def test_a_document_that_is_gone_from_the_folder_stays_in_the_index(run, folder, index):
    write(folder, a="stays", b="stays too")
    run(folder)
    (folder / "a.md").unlink()
    run(folder)
    assert index.count_documents("default") == 2


def test_lines_of_jsonl_keep_all_that_is_known_about_them(run, folder, index):
    document = {
        "id": "rule/7",
        "text": "The ferry costs four shells.",
        "title": "Prices",
        "effective": "2024-05-01",
        "authority": 2,
        "supersedes": "rule/6",
        "metadata": {"guild": "ferry"},
    }
    (folder / "a.jsonl").write_text(json.dumps(document) + "\n")
    run(folder)
    row = index.document("default", "rule/7")
    assert (row.title, str(row.effective), row.authority) == ("Prices", "2024-05-01", 2)
    assert (row.supersedes, row.metadata, row.text) == ("rule/6", {"guild": "ferry"}, document["text"])


@pytest.mark.parametrize("missing", ["nowhere", "nowhere.md"])
def test_a_path_that_does_not_exist_is_named_and_nothing_is_done(run, folder, store, missing):
    write(folder, a="text")
    with pytest.raises(UsageError, match=missing):
        run(folder, folder / missing)
    assert not store.exists()


def test_a_folder_without_documents_says_what_is_read(run, folder):
    with pytest.raises(UsageError, match=r"No documents in .*\.md"):
        run(folder)
    (folder / "a.exe").write_text("x")
    with pytest.raises(UsageError, match=r"1 passed over.*\.exe files are not read"):
        run(folder)


def test_another_model_is_refused_before_any_work_with_the_command_that_helps(run, folder, tmp_path, tiny_path):
    write(folder, a="text")
    run(folder)
    other = make_tiny_embedder(tmp_path / "other", dimension=48)
    with pytest.raises(EmbedderMismatch, match=rf"--embedder {tiny_path}.*openbook rebuild --embed-only") as caught:
        run(folder, embedder=str(other))
    assert caught.value.exit_code == 2


def test_the_same_model_from_another_folder_is_welcome(run, folder, tmp_path, tiny_path):
    write(folder, a="text")
    run(folder)
    moved = tmp_path / "moved"
    moved.symlink_to(tiny_path)
    write(folder, b="more")
    assert counts(run(folder, embedder=str(moved))[0]) == {"added": 1, "unchanged": 1}


def test_a_document_whose_vector_points_nowhere_fails_alone(run, folder, monkeypatch, index):
    def load(*named):
        embedder = original(*named)
        word = embedder._model.tokenizer.get_vocab()["q"]
        embedder._model[0].model.embeddings.word_embeddings.weight.data[word] = float("nan")
        return embedder

    original = Embedder.load
    monkeypatch.setattr(Embedder, "load", load)
    write(folder, a="fine", bad="q", c="fine too")
    summary, outcomes = run(folder)
    assert counts(summary) == {"added": 2, "failed": 1}
    assert next(outcome.id for outcome in outcomes if outcome.status == "failed") == "bad.md"
    assert [row.id for row in index.documents("default")] == ["a.md", "c.md"]


def test_an_interrupt_keeps_and_publishes_what_was_committed(store, folder, settings, index, monkeypatch):
    monkeypatch.setattr(ingest_module, "GROUP_DOCUMENTS", 2)
    write(folder, a="one", b="two", c="three", d="four", e="five")
    seen: list[Outcome] = []

    def report(outcome: Outcome) -> None:
        seen.append(outcome)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(store, [folder], "default", settings=settings, watcher=Watcher(report=report))
    assert index.count_documents("default") == 4
    assert index.collections() == {"default": 1}
    assert counts(ingest(store, [folder], "default", settings=settings)) == {"added": 1, "unchanged": 4}


def test_a_second_ingest_waits_and_then_says_that_the_store_is_locked(run, folder, store):
    write(folder, a="text")
    with writer_lock(store, 0), pytest.raises(StoreLocked):
        run(folder)


def test_progress_ends_at_the_bytes_that_were_announced(store, folder, settings):
    write(folder, a="text " * 50, b="more " * 500)
    (folder / "bad.txt").write_bytes(b"\xff" * 1000)
    (folder / "c.jsonl").write_text('{"id":"x","text":"y"}\n\n{bad\n')
    announced, done = [], []
    ingest(store, [folder], "default", settings=settings, watcher=Watcher(announced.append, done.append))
    assert sum(done) == announced[0] == sum(path.stat().st_size for path in folder.iterdir())


def test_collections_keep_apart(store, folder, settings, index):
    write(folder, a="ferry")
    ingest(store, [folder], "one", settings=settings)
    write(folder, a="harbour")
    ingest(store, [folder], "two", settings=settings)
    assert index.document("one", "a.md").text == "ferry"
    assert [hit.text for hit in index.search("two", "ferry", 5).hits] == ["harbour"]


def test_settings_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("OPENBOOK_CHUNK_TOKENS", "77")
    monkeypatch.setenv("OPENBOOK_EMBEDDER_THREADS", "2")
    assert (IndexerSettings().chunk_tokens, IndexerSettings().embedder_threads) == (77, 2)
