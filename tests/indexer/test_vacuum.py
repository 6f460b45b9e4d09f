"""Deletion is real: after a vacuum, no file of the store holds what was deleted."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from indexer.doctor.examination import examine
from indexer.index import Index
from indexer.ingesting.deletion import delete
from indexer.ingesting.ingest import ingest
from indexer.maintenance.vacuum import vacuum
from indexer.publishing import vectors_home
from indexer.store import queries
from indexer.store.database import connect

MARKER = "uniq7781"


@pytest.fixture
def documents(tmp_path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(30):
        (folder / f"d{number}.md").write_text(f"ordinary text of number {number}")
    (folder / "secret.md").write_text(f"# Heading {MARKER}\n\nthe code {MARKER} opens it")
    return folder


def vector_bytes(store: Path, document_id: str) -> list[bytes]:
    with closing(connect(store)) as connection:
        return [
            row[0]
            for row in connection.execute(
                "SELECT e.vector FROM documents d JOIN versions v ON v.document = d.key"
                " JOIN chunks c ON c.version = v.key JOIN embeddings e ON e.chunk = c.id WHERE d.id = ?",
                (document_id,),
            )
        ]


def files_with(store: Path, *wanted: bytes) -> list[str]:
    """Return the files of the store that hold any of these bytes."""
    return sorted(
        str(path.relative_to(store))
        for path in store.rglob("*")
        if path.is_file() and any(piece in path.read_bytes() for piece in wanted)
    )


def traces(store: Path, vectors: list[bytes]) -> list[str]:
    return files_with(store, MARKER.encode(), MARKER.upper().encode(), *vectors)


def test_no_file_holds_the_text_the_words_or_the_vectors_of_a_deleted_document(store, settings, documents):
    ingest(store, [documents], "default", settings=settings)
    vectors = vector_bytes(store, "secret.md")
    assert vectors
    assert any(name.endswith("index.faiss") for name in traces(store, vectors))
    delete(store, "default", ["secret.md"], settings)
    assert traces(store, vectors), "this is what vacuum is for"
    done = vacuum(store, settings=settings)
    assert traces(store, vectors) == []
    assert done.log_emptied
    with closing(Index.open(store, settings=settings)) as index:
        assert index.count_documents("default") == 30
        assert len(index.search("default", MARKER, 100).hits) == 30
    assert [result for result in examine(store) if result.level != "pass"] == []


def test_a_superseded_version_is_kept_until_its_history_is_vacuumed(store, settings, documents):
    ingest(store, [documents], "default", settings=settings)
    vectors = vector_bytes(store, "secret.md")
    (documents / "secret.md").write_text("nothing to see")
    ingest(store, [documents], "default", settings=settings)
    assert vacuum(store, settings=settings).versions == 0
    assert traces(store, vectors) == ["store.db"]
    assert vacuum(store, history=True, settings=settings).versions == 1
    assert traces(store, vectors) == []
    with closing(connect(store)) as connection:
        assert len(queries.versions(connection, "default", "secret.md")) == 1


def test_only_the_published_generation_is_left(store, settings, documents):
    ingest(store, [documents], "default", settings=settings)
    delete(store, "default", [f"d{number}.md" for number in range(10)], settings)
    home = vectors_home(store, "default")
    for name in ("gen-0.damaged", ".gen-9.123"):
        (home / name).mkdir()
    (vectors_home(store, "gone") / "gen-1").mkdir(parents=True)
    assert vacuum(store, settings=settings).folders == 4
    assert [path.name for path in (store / "vectors").iterdir()] == ["default"]
    assert [path.name for path in home.iterdir()] == ["gen-2"]
    assert vacuum(store, settings=settings).folders == 0
    assert [path.name for path in home.iterdir()] == ["gen-2"], "nothing dead, nothing to publish"


def test_a_reader_that_is_open_goes_on_and_is_named_where_it_keeps_the_log(store, settings, documents):
    ingest(store, [documents], "default", settings=settings)
    with closing(Index.open(store, settings=settings)) as index, closing(connect(store, read_only=True)) as reader:
        index.search("default", "text", 1)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM chunks").fetchone()
        delete(store, "default", ["secret.md"], settings)
        reader.execute("PRAGMA busy_timeout = 0")
        assert not vacuum(store, settings=settings).log_emptied
        assert reader.execute("SELECT count(*) FROM chunks WHERE text LIKE ?", (f"%{MARKER}%",)).fetchone()[0]
        reader.execute("ROLLBACK")
        assert vacuum(store, settings=settings).log_emptied
        assert len(index.search("default", "text", 100).hits) == 30


def test_what_a_restore_left_beside_the_store_is_named(store, settings, documents):
    ingest(store, [documents], "default", settings=settings)
    copy = store.with_name("store.before-restore-20260101-000000")
    copy.mkdir()
    assert vacuum(store, settings=settings).safety_copies == (str(copy),)
