"""The doctor finds what is wrong, names the command that mends it, and repairs what is derived."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from corpus.errors import UsageError
from indexer.doctor.examination import examine
from indexer.errors import StoreDamaged
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from indexer.maintenance.vacuum import vacuum
from indexer.publishing import vectors_home
from indexer.store.database import DATABASE, connect
from indexer.store.lock import writer_lock
from indexer.store.writer import open_writer
from indexer.vectors import INDEX, MANIFEST, generation_folder
from openbook import cli


@pytest.fixture
def filled(store, settings, tmp_path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(6):
        (folder / f"d{number}.md").write_text(f"# Part {number}\n\n" + f"word{number} and more of it. " * 12)
    ingest(store, [folder], "default", settings=settings)
    (folder / "d0.md").write_text("changed")
    ingest(store, [folder], "default", settings=settings)
    return store


def change(store: Path, sql: str, *values: object) -> None:
    with closing(connect(store)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        assert connection.execute(sql, values).rowcount != 0


def found(store: Path, *, fix: bool = False) -> dict[str, tuple[str, str | None]]:
    """Return what is not in order: check to (level, command)."""
    return {
        result.check: (result.level, result.command) for result in examine(store, fix=fix) if result.level != "pass"
    }


def published(store: Path) -> Path:
    with closing(connect(store)) as connection:
        (generation,) = connection.execute("SELECT generation FROM collections").fetchone()
    return generation_folder(vectors_home(store, "default"), generation)


def unit(dimension: int = 32) -> bytes:
    return (np.ones(dimension, np.float32) / np.sqrt(dimension)).astype(np.float32).tobytes()


def test_a_store_in_order_passes_every_check_and_is_not_changed(filled):
    before = {path: path.read_bytes() for path in filled.rglob("*") if path.is_file() and path.suffix != ".lock"}
    results = examine(filled)
    assert {result.level for result in results} == {"pass"}
    assert len(results) >= 10
    after = {path: path.read_bytes() for path in before if path.exists()}
    assert {path: content for path, content in after.items() if "-shm" not in path.name} == {
        path: content for path, content in before.items() if "-shm" not in path.name and path in after
    }


def test_an_empty_store_is_in_order(store):
    with closing(connect(store)):
        pass
    assert found(store) == {}


AGAIN = "openbook rebuild --embed-only --collection default"
FIX = "openbook doctor --fix"
RESTORE = "openbook restore BACKUP"
SICKNESSES = {
    "a vector that is not finite": (
        ("UPDATE embeddings SET vector = ? WHERE chunk = 3", np.full(32, np.nan, np.float32).tobytes()),
        {"embeddings": ("fail", AGAIN)},
    ),
    "a vector that is not of unit length": (
        ("UPDATE embeddings SET vector = ? WHERE chunk = 3", np.ones(32, np.float32).tobytes()),
        {"embeddings": ("fail", AGAIN)},
    ),
    "a vector of another dimension": (
        ("UPDATE embeddings SET vector = ? WHERE chunk = 3", unit(16)),
        {"embeddings": ("fail", AGAIN)},
    ),
    "offsets that do not agree with the text": (
        ("UPDATE chunks SET start = start + 1 WHERE id = 3",),
        {"chunks": ("fail", "openbook rebuild --collection default")},
    ),
    "a text that has changed": (
        ("UPDATE versions SET text = text || '!' WHERE key = 3",),
        {"texts": ("fail", RESTORE)},
    ),
    "words that are missing": (
        ("DELETE FROM lexical WHERE rowid = 3",),
        {"full text index": ("fail", FIX)},
    ),
    "words of a chunk that is gone": (
        ("INSERT INTO lexical (rowid, terms) VALUES (999, 'ghost')",),
        {"full text index": ("fail", FIX)},
    ),
    "a document without a version": (
        ("UPDATE documents SET version = NULL WHERE key = 3",),
        {"references": ("fail", RESTORE), "pending work": None},
    ),
    "a version of a document that is gone": (
        ("UPDATE versions SET document = 999 WHERE key = 1",),
        {"references": ("fail", RESTORE)},
    ),
}


@pytest.mark.parametrize("sickness", SICKNESSES)
def test_each_sickness_is_found_with_the_command_that_mends_it(filled, sickness):
    cause, symptoms = SICKNESSES[sickness]
    change(filled, *cause)
    seen = found(filled)
    for check, expected in symptoms.items():
        if expected is not None:
            assert seen.pop(check) == expected
    assert seen.keys() <= symptoms.keys()


def test_documents_with_text_and_without_chunks_are_found_and_a_rebuild_helps(filled, settings):
    from indexer.maintenance.rebuilding import rebuild

    change(filled, "DELETE FROM embeddings WHERE chunk IN (SELECT id FROM chunks WHERE version = 4)")
    change(filled, "DELETE FROM chunks WHERE version = 4")
    assert found(filled)["documents without chunks"] == ("fail", "openbook rebuild --collection default")
    rebuild(filled, "default", settings=settings)
    assert found(filled, fix=True) == {}
    with closing(Index.open(filled, settings=settings)) as index:
        assert index.document("default", "d3.md").chunks


@pytest.mark.parametrize("sickness", ["words that are missing", "words of a chunk that is gone"])
def test_the_full_text_index_is_repaired(filled, sickness):
    change(filled, *SICKNESSES[sickness][0])
    results = examine(filled, fix=True)
    assert [result.check for result in results if result.fixed] == ["full text index"]
    assert found(filled) == {}


def test_missing_vectors_are_mended_by_the_command_that_is_named(filled, settings):
    from indexer.maintenance.rebuilding import rebuild

    change(filled, "DELETE FROM embeddings WHERE chunk = 3")
    assert found(filled)["embeddings"] == ("fail", AGAIN)
    rebuild(filled, "default", embed_only=True, settings=settings)
    assert found(filled) == {}


@pytest.mark.parametrize("damage", ["flipped", "emptied", "missing", "manifest", "pointer"])
def test_a_damaged_published_index_is_found_to_its_last_byte_and_published_again(filled, settings, damage):
    folder = published(filled)
    if damage == "flipped":
        content = bytearray((folder / INDEX).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / INDEX).write_bytes(content)
    elif damage == "emptied":
        (folder / INDEX).write_bytes(b"")
    elif damage == "missing":
        (folder / INDEX).unlink()
    elif damage == "manifest":
        (folder / MANIFEST).write_text((folder / MANIFEST).read_text()[:10])
    else:
        change(filled, "UPDATE collections SET generation = 77")
    assert found(filled)["published indexes"] == ("fail", FIX)
    assert found(filled, fix=True) == {}
    assert found(filled) == {}
    with closing(Index.open(filled, settings=settings)) as index:
        assert index.search("default", "changed", 1).hits[0].document_id == "d0.md"


@pytest.mark.parametrize("look", [examine, vacuum])
def test_no_store_is_made_to_be_looked_after(tmp_path, look):
    with pytest.raises(UsageError, match="no store in"):
        look(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_an_embedding_model_that_is_gone_is_found(store, settings, tmp_path, tiny_path):
    moved = shutil.copytree(tiny_path, tmp_path / "model")
    (tmp_path / "a.md").write_text("text")
    ingest(store, [tmp_path / "a.md"], "default", embedder=str(moved), settings=settings)
    assert found(store) == {}
    shutil.rmtree(moved)
    command = "openbook rebuild --embed-only --collection default --embedder MODEL"
    assert found(store) == {"embedding models": ("fail", command)}


def test_documents_that_say_nearly_the_same_are_pointed_out(store, settings, tmp_path):
    text = " ".join(f"word{number}" for number in range(200))
    for name, extra in (("a", "one"), ("b", "two"), ("c", "entirely different words " * 3)):
        (tmp_path / f"{name}.md").write_text(f"{text} {extra}" if name != "c" else extra)
    ingest(store, [tmp_path], "default", settings=settings)
    (finding,) = [result for result in examine(store) if result.level != "pass"]
    assert (finding.level, finding.check) == ("warn", "near-duplicate documents")
    assert "'a.md' and 'b.md'" in finding.detail


def test_what_nobody_needs_is_found_and_removed(filled):
    home = vectors_home(filled, "default")
    for name in ("gen-9", "gen-7.damaged", ".gen-9.123"):
        (home / name).mkdir()
    (vectors_home(filled, "gone") / "gen-1").mkdir(parents=True)
    assert found(filled) == {"orphans": ("warn", FIX)}
    assert found(filled, fix=True) == {}
    assert sorted(path.name for path in home.iterdir()) == [published(filled).name]


def test_folders_are_not_judged_while_someone_writes(filled):
    (vectors_home(filled, "default") / ".gen-9.123").mkdir()
    with writer_lock(filled, 0):
        assert found(filled) == {}


def test_what_was_committed_and_should_be_published_is_found_and_published(filled):
    with open_writer(filled, 0) as writer:
        writer.delete("default", ["d1.md", "d2.md"])
    assert found(filled) == {"pending work": ("warn", FIX)}
    assert found(filled, fix=True) == {}


def test_a_database_with_damaged_pages_fails_and_names_the_restore(filled):
    with closing(connect(filled)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunks_text_hash'").fetchone()
    with (filled / DATABASE).open("r+b") as file:
        file.seek((root - 1) * 4096 + 8)
        file.write(b"\xff" * 60)
    assert found(filled)["database"] == ("fail", RESTORE)


def test_a_truncated_database_is_damage(filled):
    with closing(connect(filled)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = (filled / DATABASE).read_bytes()
    (filled / DATABASE).write_bytes(content[:2000])
    with pytest.raises(StoreDamaged) as caught:
        examine(filled)
    assert caught.value.exit_code == 4


def test_the_command_says_pass_warn_or_fail_with_what_to_do(filled):
    def doctor(*arguments: str):
        result = CliRunner().invoke(cli, ["doctor", "--store", str(filled), *arguments], standalone_mode=False)
        return result.stdout, result.return_value

    out, code = doctor()
    assert ({line.split()[0] for line in out.splitlines()}, code) == ({"pass"}, 0)
    (vectors_home(filled, "default") / "gen-9").mkdir()
    out, code = doctor()
    assert "warn   orphans: Folders that no reader needs: vectors/default/gen-9." in out
    assert f"mend it with: {FIX}" in out
    assert code == 0
    change(filled, "DELETE FROM lexical WHERE rowid = 3")
    out, code = doctor("--json")
    said = json.loads(out)
    assert (said["healthy"], code) == (False, 1)
    assert {check["level"] for check in said["checks"]} == {"pass", "warn", "fail"}
    out, code = doctor("--fix")
    assert "fixed  full text index" in out
    assert "fixed  orphans" in out
    assert code == 0
