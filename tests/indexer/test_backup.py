"""Backups are made and put back while the store is served, and nothing is lost on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tarfile
import threading
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from corpus.errors import UsageError
from indexer import failpoints
from indexer.doctor.examination import examine
from indexer.errors import BackupDamaged, StoreDamaged, StoreLocked
from indexer.failpoints import FailpointReached
from indexer.index import Index
from indexer.ingesting.deletion import delete, delete_collection
from indexer.ingesting.ingest import ingest
from indexer.maintenance.backup import DESCRIPTION, backup
from indexer.maintenance.restoring import restore, unpacked_in
from indexer.store.database import DATABASE, connect
from indexer.store.lock import writer_lock
from openbook import cli

ROOT = Path(__file__).parents[2]


@pytest.fixture
def add(store, settings, tmp_path):
    """Return a function that ingests texts under the given ids."""

    def add_(**texts: str) -> None:
        path = tmp_path / "documents.jsonl"
        path.write_text("\n".join(json.dumps({"id": id_, "text": text}) for id_, text in texts.items()))
        ingest(store, [path], "default", settings=settings)

    return add_


def held(store: Path, settings) -> dict[str, str]:
    """Return the texts of all documents, each found by its own text as well."""
    with closing(Index.open(store, settings=settings)) as index:
        texts = {row.id: index.document("default", row.id).text for row in index.documents("default")}
        for id_, text in texts.items():
            assert index.search("default", text, 1).hits[0].document_id == id_
        return texts


def healthy(store: Path) -> bool:
    return [result for result in examine(store) if result.level != "pass"] == []


@pytest.mark.parametrize("name", ["copy", "copy.tar"])
def test_a_backup_brings_back_what_was_there(store, settings, add, tmp_path, name):
    add(a="one", b="two")
    description = backup(store, tmp_path / name)
    assert description.collections == {"default": 2}
    add(a="one changed", c="three")
    delete(store, "default", ["b"], settings)
    restored = restore(store, tmp_path / name, settings)
    assert (restored.collections, restored.was_damaged) == ({"default": 2}, False)
    assert held(store, settings) == {"a": "one", "b": "two"}
    assert healthy(store)


def test_the_store_that_was_there_can_be_brought_back_too(store, settings, add, tmp_path):
    add(a="one")
    backup(store, tmp_path / "copy")
    add(a="one changed", c="three")
    copy = restore(store, tmp_path / "copy", settings).safety_copy
    assert copy is not None
    restore(store, Path(copy), settings)
    assert held(store, settings) == {"a": "one changed", "c": "three"}


def test_a_backup_fills_an_empty_place(store, settings, add, tmp_path):
    add(a="one")
    backup(store, tmp_path / "copy.tar")
    other = tmp_path / "elsewhere" / "store"
    assert restore(other, tmp_path / "copy.tar", settings).safety_copy is None
    assert held(other, settings) == {"a": "one"}
    assert healthy(other)


def test_an_open_reader_follows_a_restore_and_never_mistakes_an_id(store, settings, add, tmp_path):
    add(a="one", b="two")
    backup(store, tmp_path / "copy")
    add(c="three")
    with closing(Index.open(store, settings=settings)) as index:
        known = index.search("default", "three", 1)
        assert known.hits[0].document_id == "c"
        restore(store, tmp_path / "copy", settings)
        after = index.search("default", "three", 9)
        assert {hit.document_id for hit in after.hits} == {"a", "b"}
        assert after.revision > known.revision
        assert after.generation > known.generation
        add(d="something else")
        again = index.search("default", "something else", 1).hits[0]
        assert again.document_id == "d"
        assert again.chunk_id > known.hits[0].chunk_id, "an id was given again"


@pytest.mark.parametrize("exact", ["50000", "0"])
def test_an_open_reader_never_takes_a_collection_that_is_made_again_for_the_one_before(
    store, settings, add, tmp_path, monkeypatch, exact
):
    monkeypatch.setenv("OPENBOOK_EXACT_VECTORS", exact)
    with closing(Index.open(store, settings=settings)) as index:
        backup(store, tmp_path / "nothing")
        add(a="one", b="two")
        known = index.search("default", "one", 9)
        for gone in (
            lambda: restore(store, tmp_path / "nothing", settings),
            lambda: restore(store, tmp_path / "nothing", settings),
            lambda: delete_collection(store, "default", settings),
        ):
            gone()
            assert index.collections() == {}
            add(c="three", d="four")
            after = index.search("default", "three", 9)
            assert {hit.document_id for hit in after.hits} == {"c", "d"}
            assert (after.revision, after.generation) > (known.revision, known.generation)
            assert after.generation > known.generation
            known = after
    assert healthy(store)


def test_a_reader_in_the_middle_of_a_look_sees_one_state(store, settings, add, tmp_path):
    add(a="one")
    backup(store, tmp_path / "copy")
    add(b="two")
    with closing(connect(store, read_only=True)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM documents").fetchone() == (2,)
        restore(store, tmp_path / "copy", settings)
        assert reader.execute("SELECT count(*) FROM documents").fetchone() == (2,)
        reader.execute("ROLLBACK")
        assert reader.execute("SELECT count(*) FROM documents").fetchone() == (1,)


def test_backups_made_during_an_ingest_are_each_one_commit(store, settings, tmp_path, monkeypatch):
    monkeypatch.setattr("indexer.ingesting.ingest.GROUP_DOCUMENTS", 3)
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(40):
        (folder / f"d{number:02}.md").write_text(f"text of number {number}")
    worker = threading.Thread(target=lambda: ingest(store, [folder], "default", settings=settings))
    worker.start()
    made = []
    while worker.is_alive():
        if (store / DATABASE).exists():
            target = tmp_path / f"copy{len(made)}"
            try:
                made.append((target, backup(store, target)))
            except UsageError:
                break
    worker.join()
    assert made
    for number, (target, _) in enumerate(made[-3:]):
        place = tmp_path / f"restored{number}"
        restore(place, target, settings)
        assert healthy(place)


def test_a_writer_that_holds_the_lock_is_not_overrun(store, settings, add, tmp_path):
    add(a="one")
    backup(store, tmp_path / "copy")
    with writer_lock(store, 0):
        backup(store, tmp_path / "another")
        with pytest.raises(StoreLocked):
            restore(store, tmp_path / "copy", settings)


def test_a_backup_never_replaces_what_is_there(store, add, tmp_path):
    add(a="one")
    (tmp_path / "copy").mkdir()
    with pytest.raises(UsageError, match="something at"):
        backup(store, tmp_path / "copy")
    with pytest.raises(UsageError, match="no store"):
        backup(tmp_path / "nowhere", tmp_path / "other")
    assert not (tmp_path / "nowhere").exists()


def cut(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:-100])


def flip(database: Path) -> None:
    content = bytearray(database.read_bytes())
    content[len(content) // 2] ^= 1
    database.write_bytes(content)


@pytest.mark.parametrize("damage", [cut, flip, Path.unlink])
@pytest.mark.parametrize("name", [DATABASE, DESCRIPTION])
def test_a_damaged_backup_is_refused_and_the_store_stays(store, settings, add, tmp_path, damage, name):
    add(a="one")
    backup(store, tmp_path / "copy")
    add(b="two")
    damage(tmp_path / "copy" / name)
    if (name, damage) == (DESCRIPTION, flip):
        (tmp_path / "copy" / name).write_text('{"format": 1}')
    with pytest.raises(BackupDamaged) as caught:
        restore(store, tmp_path / "copy", settings)
    assert caught.value.exit_code == 4
    assert held(store, settings) == {"a": "one", "b": "two"}
    assert not list(tmp_path.glob("store.before-restore-*"))


def test_a_backup_of_another_format_is_refused(store, settings, add, tmp_path):
    add(a="one")
    backup(store, tmp_path / "copy")
    path = tmp_path / "copy" / DESCRIPTION
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 99}))
    with pytest.raises(BackupDamaged, match="format 99"):
        restore(store, tmp_path / "copy", settings)
    with pytest.raises(UsageError, match="no backup"):
        restore(store, tmp_path / "nowhere", settings)


def test_nothing_but_the_two_files_is_taken_from_a_tar(store, settings, add, tmp_path):
    add(a="one")
    backup(store, tmp_path / "copy.tar")
    (tmp_path / "evil").write_text("evil")
    with tarfile.open(tmp_path / "copy.tar", "a") as tar:
        tar.add(tmp_path / "evil", arcname="../../evil2")
    restore(store, tmp_path / "copy.tar", settings)
    assert not (tmp_path.parent / "evil2").exists()


def test_a_store_that_cannot_be_opened_is_moved_aside_whole_and_replaced(store, settings, add, tmp_path):
    add(a="one")
    backup(store, tmp_path / "copy")
    damaged = b"no database" * 1000
    (store / DATABASE).write_bytes(damaged)
    for extra in ("-wal", "-shm"):
        (store / f"{DATABASE}{extra}").unlink(missing_ok=True)
    with pytest.raises(StoreDamaged, match="openbook restore BACKUP"):
        Index.open(store, settings=settings)
    restored = restore(store, tmp_path / "copy", settings)
    assert restored.was_damaged
    assert restored.safety_copy is not None
    assert (Path(restored.safety_copy) / DATABASE).read_bytes() == damaged
    assert held(store, settings) == {"a": "one"}
    assert healthy(store)


def test_a_database_that_is_gone_beside_its_indexes_can_be_restored(store, settings, add, tmp_path):
    add(a="one")
    backup(store, tmp_path / "copy")
    for path in store.glob("store.db*"):
        path.unlink()
    with pytest.raises(StoreDamaged, match="empty or gone"):
        Index.open(store, settings=settings)
    restore(store, tmp_path / "copy", settings)
    assert held(store, settings) == {"a": "one"}


BEFORE = [
    "restore.checked",
    "restore.safety_copy_made",
    "generation.renamed",
    "restore.published",
    "restore.before_swap",
]


@pytest.mark.parametrize("step", [*BEFORE, "restore.swapped"])
def test_a_restore_that_dies_leaves_the_old_store_or_the_new_one(store, settings, add, tmp_path, monkeypatch, step):
    add(a="one")
    backup(store, tmp_path / "copy")
    add(b="two")
    monkeypatch.setitem(failpoints.asked, step, ("error", 1))
    with pytest.raises(FailpointReached):
        restore(store, tmp_path / "copy", settings)
    failpoints.asked.clear()
    assert held(store, settings) == ({"a": "one", "b": "two"} if step in BEFORE else {"a": "one"})
    assert {result.level for result in examine(store)} <= {"pass", "warn"}
    restore(store, tmp_path / "copy", settings)
    assert held(store, settings) == {"a": "one"}
    examine(store, fix=True)
    assert healthy(store)


def test_between_moving_a_damaged_store_away_and_the_new_one_nothing_is_lost(
    store, settings, add, tmp_path, monkeypatch
):
    add(a="one")
    backup(store, tmp_path / "copy")
    (store / DATABASE).write_bytes(b"no database" * 1000)
    monkeypatch.setitem(failpoints.asked, "restore.half_moved", ("error", 1))
    with pytest.raises(FailpointReached):
        restore(store, tmp_path / "copy", settings)
    failpoints.asked.clear()
    (copy,) = tmp_path.glob("store.before-restore-*")
    assert (copy / DATABASE).read_bytes().startswith(b"no database")
    restore(store, tmp_path / "copy", settings)
    assert held(store, settings) == {"a": "one"}


@pytest.mark.parametrize("step", ["backup.database_copied", "backup.before_rename"])
def test_a_backup_that_dies_leaves_nothing_at_its_name(store, add, tmp_path, monkeypatch, step):
    add(a="one")
    monkeypatch.setitem(failpoints.asked, step, ("error", 1))
    with pytest.raises(FailpointReached):
        backup(store, tmp_path / "copies" / "copy")
    assert list((tmp_path / "copies").iterdir()) == []


def test_the_commands_say_what_they_did(store, add, tmp_path):
    add(a="one", b="two")

    def run(*arguments: str):
        result = CliRunner().invoke(cli, [*arguments, "--store", str(store)], standalone_mode=False)
        assert result.exception is None, result.exception
        return result

    assert run("backup", str(tmp_path / "copy.tar")).stdout.startswith("2 documents in 1 collection, ")
    shown = run("restore", str(tmp_path / "copy.tar"))
    assert shown.stdout.startswith("2 documents in 1 collection restored from the backup of ")
    assert "is kept in" in shown.stderr
    said = json.loads(run("restore", str(tmp_path / "copy.tar"), "--json").stdout)
    assert said["collections"] == {"default": 2}


@pytest.mark.parametrize("step", ["restore.published", "restore.swapped"])
def test_a_killed_restore_leaves_a_store_that_answers(store, settings, add, tmp_path, step):
    add(a="one")
    backup(store, tmp_path / "copy")
    add(b="two")
    command = [sys.executable, "-m", "openbook", "restore", str(tmp_path / "copy"), "--store", str(store)]
    killed = subprocess.run(
        command, env={**os.environ, "OPENBOOK_FAILPOINTS": step}, cwd=ROOT, capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert held(store, settings) == ({"a": "one"} if step == "restore.swapped" else {"a": "one", "b": "two"})
    assert unpacked_in(store).exists()
    restore(store, tmp_path / "copy", settings)
    assert not unpacked_in(store).exists()
    assert healthy(store)
