"""A collection made anew from its stored texts: served throughout, replaced at once, gone on with after a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from corpus.errors import UsageError
from indexer import failpoints
from indexer.doctor.examination import examine
from indexer.errors import CollectionNotFound, EmbedderMismatch, VectorRefused
from indexer.failpoints import FailpointReached
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from indexer.maintenance import rebuilding
from indexer.maintenance.rebuilding import rebuild
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.database import connect
from tests.indexer.asking import asking
from tests.indexer.conftest import make_tiny_embedder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def other_path(tmp_path_factory) -> Path:
    return make_tiny_embedder(tmp_path_factory.mktemp("embedders") / "other", seed=3, dimension=48)


@pytest.fixture
def filled(store, settings, tmp_path) -> Path:
    """Return a store with some documents, one of which has a past."""
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(6):
        (folder / f"d{number}.md").write_text(f"# Part {number}\n\n" + f"word{number} and more of it. " * 12)
    (folder / "past.md").write_text("as it was")
    ingest(store, [folder], "default", settings=settings)
    (folder / "past.md").write_text("as it is")
    ingest(store, [folder], "default", settings=settings)
    return store


def rows(store: Path, sql: str) -> list[tuple]:
    with closing(connect(store)) as connection:
        return connection.execute(sql).fetchall()


CHUNKS = (
    'SELECT version, start, "end", tokens, text, context, heading_path, page, text_hash FROM chunks'
    " ORDER BY version, start"
)
VECTORS = (
    "SELECT c.version, c.start, e.vector FROM chunks c JOIN embeddings e ON e.chunk = c.id ORDER BY c.version, c.start"
)


def healthy(store: Path) -> bool:
    return [result for result in examine(store) if result.level != "pass"] == []


def test_a_rebuild_makes_the_same_chunks_and_vectors_from_the_stored_texts(filled, settings):
    chunks, vectors, ids = rows(filled, CHUNKS), rows(filled, VECTORS), rows(filled, "SELECT id FROM chunks")
    done = rebuild(filled, "default", settings=settings)
    assert rows(filled, CHUNKS) == chunks
    for (*place, new), (*old_place, old) in zip(rows(filled, VECTORS), vectors, strict=True):
        assert place == old_place
        np.testing.assert_allclose(np.frombuffer(new, np.float32), np.frombuffer(old, np.float32), atol=1e-5)
    assert not {*rows(filled, "SELECT id FROM chunks")} & {*ids}, "an id was used again"
    assert (done.kind, done.chunks, done.resumed) == ("cut", len(chunks), False)
    assert healthy(filled)


def test_a_rebuild_cuts_as_the_settings_say_and_an_ingest_then_finds_nothing_to_do(filled, settings, tmp_path):
    coarse = len(rows(filled, CHUNKS))
    finer = settings.model_copy(update={"chunk_tokens": 16})
    assert rebuild(filled, "default", settings=finer).chunks > coarse
    assert ingest(filled, [tmp_path / "documents"], "default", settings=finer).unchanged == 7
    assert healthy(filled)


def test_a_rebuild_keeps_what_was_said_of_documents_when_they_were_ingested(store, settings, tmp_path):
    from indexer.ingesting.options import IngestOptions, Provenance

    (tmp_path / "a.md").write_text("text")
    options = IngestOptions(provenance=Provenance(authority=3))
    ingest(store, [tmp_path / "a.md"], "default", settings=settings, options=options)
    rebuild(store, "default", settings=settings)
    assert ingest(store, [tmp_path / "a.md"], "default", settings=settings, options=options).unchanged == 1


def test_embed_only_changes_the_embedder_and_keeps_the_ids(filled, settings, other_path, tiny_path):
    before = rows(filled, "SELECT id, text FROM chunks ORDER BY id")
    done = rebuild(filled, "default", embed_only=True, embedder=str(other_path), settings=settings)
    assert rows(filled, "SELECT id, text FROM chunks ORDER BY id") == before
    assert (done.kind, done.chunks, done.embedder) == ("embed", len(before), str(other_path))
    assert {len(vector) for (vector,) in rows(filled, "SELECT vector FROM embeddings")} == {4 * 48}
    with closing(Index.open(filled, settings=settings)) as index:
        assert index.embedder_name == str(other_path)
        text = before[0][1]
        hit = index.search("default", text, 1).hits[0]
        assert (hit.text, hit.score) == (text, pytest.approx(1, abs=1e-5))
    with closing(Index.open(filled, str(tiny_path), settings)) as index, pytest.raises(EmbedderMismatch):
        index.search("default", "x", 1)
    assert healthy(filled)


def test_a_mismatch_names_the_command_that_embeds_anew_and_that_command_helps(filled, settings, other_path):
    with closing(Index.open(filled, str(other_path), settings)) as index:
        with pytest.raises(EmbedderMismatch, match=r"openbook rebuild --embed-only --collection default --embedder"):
            index.search("default", "x", 1)
        rebuild(filled, "default", embed_only=True, embedder=str(other_path), settings=settings)
        assert index.search("default", "x", 1).hits


def test_an_open_reader_is_served_throughout_and_follows_the_swap(filled, settings, other_path):
    with closing(Index.open(filled, settings=settings)) as index:
        texts = sorted(hit.text for hit in index.search("default", "word1", 100).hits)
        asked = []

        def ask(done: int, total: int) -> None:
            asked.append((done, total, sorted(hit.text for hit in index.search("default", "word1", 100).hits)))

        rebuild(filled, "default", embed_only=True, embedder=str(other_path), settings=settings, advance=ask)
        assert [(done, total) for done, total, _ in asked] == [(len(rows(filled, CHUNKS)),) * 2]
        assert all(found == texts for _, _, found in asked)
        assert sorted(hit.text for hit in index.search("default", "word1", 100).hits) == texts


@pytest.mark.parametrize("exact_vectors", ["50000", "0"], ids=["exact", "lists"])
def test_eight_askers_never_meet_vectors_of_two_models(
    filled, settings, other_path, tiny_path, monkeypatch, exact_vectors
):
    monkeypatch.setenv("OPENBOOK_EXACT_VECTORS", exact_vectors)
    rebuild(filled, "default", embed_only=True, settings=settings)
    with closing(Index.open(filled, settings=settings)) as index:
        text = index.document("default", "past.md").text

        def wrong() -> list[object]:
            hit = index.search("default", text, 1).hits[0]
            return [hit] if hit.text != text or abs(hit.score - 1) > 1e-4 else []

        with asking(wrong, 8) as problems:
            for path in (other_path, tiny_path):
                rebuild(filled, "default", embed_only=True, embedder=str(path), settings=settings)
    assert problems == []


@pytest.mark.parametrize("exact_vectors", ["50000", "0"], ids=["exact", "lists"])
def test_a_question_in_whose_middle_the_model_changes_is_asked_again(
    filled, settings, other_path, monkeypatch, exact_vectors
):
    monkeypatch.setenv("OPENBOOK_EXACT_VECTORS", exact_vectors)
    rebuild(filled, "default", embed_only=True, settings=settings)
    vectors_of, rebuilt = queries.vectors_of, []

    def vectors_of_another_model(*arguments):
        if not rebuilt:
            rebuilt.append(True)
            rebuild(filled, "default", embed_only=True, embedder=str(other_path), settings=settings)
        return vectors_of(*arguments)

    with closing(Index.open(filled, settings=settings)) as index:
        text = index.document("default", "past.md").text
        monkeypatch.setattr(queries, "vectors_of", vectors_of_another_model)
        hit = index.search("default", text, 2).hits[0]
        assert (hit.text, hit.score) == (text, pytest.approx(1, abs=1e-5))
        assert rebuilt


def test_embed_only_refuses_an_embedder_that_would_cut_off_the_end_of_a_chunk(filled, settings, tmp_path, tiny_path):
    short = shutil.copytree(tiny_path, tmp_path / "short")
    (config,) = short.glob("**/sentence_bert_config.json")
    config.write_text(json.dumps(json.loads(config.read_text()) | {"max_seq_length": 16}))
    with pytest.raises(UsageError, match=r"its end would never be found.*openbook rebuild --collection"):
        rebuild(filled, "default", embed_only=True, embedder=str(short), settings=settings)
    rebuild(filled, "default", embedder=str(short), settings=settings)
    assert max(tokens for (tokens,) in rows(filled, "SELECT tokens FROM chunks")) <= 14
    assert healthy(filled)


def test_an_embedder_that_fails_leaves_what_is_served(filled, settings, monkeypatch):
    vectors = rows(filled, VECTORS)
    from indexer.embedding import Embedder

    monkeypatch.setattr(rebuilding, "GROUP_CHUNKS", 3)
    whole = Embedder.embed_passages
    calls = []

    def fail(self, texts):
        calls.append(texts)
        if len(calls) == 4:
            raise VectorRefused("no direction", (0,))
        return whole(self, texts)

    monkeypatch.setattr(Embedder, "embed_passages", fail)
    with pytest.raises(VectorRefused):
        rebuild(filled, "default", embed_only=True, settings=settings)
    assert rows(filled, VECTORS) == vectors


@pytest.mark.parametrize("embed_only", [True, False])
@pytest.mark.parametrize(
    "step",
    ["rebuild.staged", "rebuild.before_swap", "rebuild.swapped_half", "generation.renamed", "rebuild.before_commit"],
)
def test_a_rebuild_that_was_interrupted_changes_nothing_and_is_gone_on_with(
    filled, settings, other_path, monkeypatch, step, embed_only
):
    monkeypatch.setattr(rebuilding, "GROUP_CHUNKS", 3)
    monkeypatch.setattr(rebuilding, "GROUP_VERSIONS", 2)
    before = rows(filled, VECTORS)
    monkeypatch.setitem(failpoints.asked, step, ("error", 2 if step == "rebuild.staged" else 1))
    with pytest.raises(FailpointReached):
        rebuild(filled, "default", embed_only=embed_only, embedder=str(other_path), settings=settings)
    failpoints.asked.clear()
    assert rows(filled, VECTORS) == before
    command = [result.command for result in examine(filled) if result.check == "pending work"]
    flag = " --embed-only" if embed_only else ""
    assert command == [f"openbook rebuild{flag} --collection default --embedder {other_path}"]
    told = []
    done = rebuild(
        filled,
        "default",
        embed_only=embed_only,
        embedder=str(other_path),
        settings=settings,
        advance=lambda done, total: told.append(done),
    )
    assert done.resumed
    assert (min(told) if told else 99) > (3 if embed_only else 2), "what was staged was embedded again"
    examine(filled, fix=True)
    assert healthy(filled)
    assert {len(vector) for (vector,) in rows(filled, "SELECT vector FROM embeddings")} == {4 * 48}


def test_a_rebuild_with_another_aim_starts_anew(filled, settings, other_path, monkeypatch):
    monkeypatch.setattr(rebuilding, "GROUP_CHUNKS", 3)
    monkeypatch.setitem(failpoints.asked, "rebuild.staged", ("error", 1))
    with pytest.raises(FailpointReached):
        rebuild(filled, "default", embed_only=True, embedder=str(other_path), settings=settings)
    failpoints.asked.clear()
    assert not rebuild(filled, "default", embed_only=True, settings=settings).resumed
    assert {len(vector) for (vector,) in rows(filled, "SELECT vector FROM embeddings")} == {4 * 32}
    assert rows(filled, "SELECT count(*) FROM staged_vectors") == [(0,)]
    assert healthy(filled)


def test_documents_that_came_and_went_meanwhile_are_embedded_and_forgotten(
    filled, settings, other_path, monkeypatch, tmp_path
):
    monkeypatch.setattr(rebuilding, "GROUP_CHUNKS", 3)
    monkeypatch.setitem(failpoints.asked, "rebuild.staged", ("error", 1))
    with pytest.raises(FailpointReached):
        rebuild(filled, "default", embed_only=True, embedder=str(other_path), settings=settings)
    failpoints.asked.clear()
    from indexer.ingesting.deletion import delete

    delete(filled, "default", ["d0.md"], settings)
    (tmp_path / "documents" / "new.md").write_text("new text")
    (tmp_path / "documents" / "d0.md").unlink()
    ingest(filled, [tmp_path / "documents"], "default", settings=settings)
    rebuild(filled, "default", embed_only=True, embedder=str(other_path), settings=settings)
    assert healthy(filled)
    with closing(Index.open(filled, settings=settings)) as index:
        assert index.search("default", "new text", 1).hits[0].document_id == "new.md"


def test_a_killed_rebuild_leaves_a_store_that_answers_and_the_same_command_finishes(filled, settings, other_path):
    command = [sys.executable, "-m", "openbook", "rebuild", "--embed-only", "--embedder", str(other_path)]
    surroundings = {**os.environ, "OPENBOOK_CHUNK_TOKENS": "40", "PYTHONPATH": str(ROOT)}
    command += ["--store", str(filled), "--json"]
    killed = subprocess.run(
        command, env={**surroundings, "OPENBOOK_FAILPOINTS": "rebuild.before_commit"}, capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    with closing(Index.open(filled, settings=settings)) as index:
        assert index.search("default", "word1", 1).hits[0].document_id == "d1.md"
    finished = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    assert json.loads(finished.stdout)["resumed"]
    examine(filled, fix=True)
    assert healthy(filled)


def test_a_collection_that_does_not_exist_is_named(filled, settings):
    with pytest.raises(CollectionNotFound, match="Did you mean 'default'"):
        rebuild(filled, "defalt", settings=settings)
    with closing(connect(filled)) as connection:
        assert queries.pending_rebuild(connection, "defalt") is None


def test_settings_are_those_of_the_environment_where_none_are_given(filled, tiny_path, monkeypatch):
    monkeypatch.setenv("OPENBOOK_CHUNK_TOKENS", "20")
    assert rebuild(filled, "default").kind == "cut"
    assert max(tokens for (tokens,) in rows(filled, "SELECT tokens FROM chunks")) <= 20
    assert IndexerSettings().chunk_tokens == 20
