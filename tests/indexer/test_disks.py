"""Disks that are full, take nothing, or have lost the end of a file."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from indexer.doctor.examination import examine
from indexer.errors import StoreDamaged, StoreError, StoreUnreachable
from indexer.index import Index
from indexer.ingesting.deletion import delete
from indexer.ingesting.ingest import ingest
from indexer.publishing import vectors_home
from indexer.store.database import DATABASE, connect
from indexer.store.lock import writer_lock
from indexer.vectors import INDEX, MANIFEST, generation_folder

ROOT = Path(__file__).parents[2]


@pytest.fixture
def disk(tmp_path) -> Iterator[Path]:
    """Return a disk of one MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("only root may mount a disk here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def documents(tmp_path) -> Path:
    """Return a folder of documents that make more than a MiB of store, a small one first."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.md").write_text("the first text")
    for number in range(30):
        words = " ".join(f"word{number}x{position}" for position in range(400))
        (folder / f"d{number:02}.md").write_text(words)
    return folder


def held(store: Path, settings) -> list[str]:
    """Return the ids of the documents, each of which is found whole."""
    with closing(Index.open(store, settings=settings)) as index:
        ids = [row.id for row in index.documents("default", limit=1000)]
        hits = index.search("default", "text", 10_000).hits
        chunks = [chunk.id for id_ in ids for chunk in index.document("default", id_).chunks]
    assert sorted(hit.chunk_id for hit in hits) == sorted(chunks)
    return ids


def failures(store: Path) -> list[str]:
    return [f"{result.check}: {result.detail}" for result in examine(store) if result.level == "fail"]


def test_a_full_disk_keeps_what_was_committed(disk, documents, settings):
    store = disk / "store"
    ingest(store, [documents / "a.md"], "default", settings=settings)
    with pytest.raises(StoreError) as caught:
        ingest(store, [documents], "default", settings=settings)
    assert caught.value.exit_code != 0
    assert held(store, settings)[0] == "a.md"
    assert failures(store) == []


def test_a_file_that_may_not_grow_keeps_what_was_committed_and_a_rerun_does_the_rest(
    store, documents, settings, tiny_path
):
    ingest(store, [documents / "a.md"], "default", settings=settings)
    environment = {**os.environ, "OPENBOOK_EMBEDDER": str(tiny_path), "OPENBOOK_CHUNK_TOKENS": "40"}
    limited = subprocess.run(
        [sys.executable, "-m", "openbook", "ingest", str(documents), "--store", str(store)],
        cwd=ROOT,
        env={**environment, "OPENBOOK_PARSER_WORKERS": "0"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode not in (0, -signal.SIGXFSZ)
    assert "make room" in limited.stderr
    assert "Traceback" not in limited.stderr
    before = held(store, settings)
    assert before[0] == "a.md"
    assert len(before) < 31
    assert failures(store) == []
    summary = ingest(store, [documents], "default", settings=settings)
    assert summary.added + summary.unchanged == 31
    assert summary.unchanged == len(before)
    assert len(held(store, settings)) == 31
    examine(store, fix=True)
    assert failures(store) == []


def read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


def test_a_store_on_a_read_only_disk_is_searched_and_not_written(disk, documents, settings):
    store = disk / "store"
    ingest(store, [documents / "a.md"], "default", settings=settings)
    read_only(disk)
    assert held(store, settings) == ["a.md"]
    assert [result for result in examine(store) if result.level != "pass"] == []
    for change in (
        lambda: ingest(store, [documents], "default", settings=settings),
        lambda: delete(store, "default", ["a.md"], settings),
    ):
        with pytest.raises(StoreUnreachable, match="cannot be written") as caught:
            change()
        assert caught.value.exit_code == 2
    assert held(store, settings) == ["a.md"]


def test_a_read_only_disk_with_the_log_of_a_killed_writer_still_gives_every_commit(disk, documents, settings):
    store = disk / "store"
    child = os.fork()
    if child == 0:
        ingest(store, [documents / "a.md"], "default", settings=settings)
        connection = connect(store)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM documents")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert (store / f"{DATABASE}-wal").exists()
    read_only(disk)
    assert held(store, settings) == ["a.md"]


def test_a_damaged_index_on_a_read_only_disk_is_done_without(disk, documents, settings, capfd):
    store = disk / "store"
    ingest(store, [documents / "a.md"], "default", settings=settings)
    (generation_folder(vectors_home(store, "default"), 1) / INDEX).write_bytes(b"")
    read_only(disk)
    assert held(store, settings) == ["a.md"]
    assert "cannot be written now" in capfd.readouterr().err


def test_a_new_store_on_a_read_only_disk_is_refused(disk, settings):
    read_only(disk)
    with pytest.raises(StoreUnreachable, match="disk/store"):
        Index.open(disk / "store", settings=settings)


@pytest.mark.parametrize("name", [INDEX, MANIFEST])
@pytest.mark.parametrize("bytes_left", [0, 10])
def test_a_truncated_file_of_an_index_is_found_out_and_made_again(store, settings, documents, name, bytes_left, capfd):
    ingest(store, [documents / "a.md"], "default", settings=settings)
    path = generation_folder(vectors_home(store, "default"), 1) / name
    path.write_bytes(path.read_bytes()[:bytes_left])
    assert held(store, settings) == ["a.md"]
    assert "made again from the store" in capfd.readouterr().err
    assert failures(store) == []


@pytest.mark.parametrize("bytes_left", [0, 10, 2000, 4096, 10_000])
def test_a_truncated_database_is_damage_with_its_exit_code_and_the_way_out(store, documents, settings, bytes_left):
    ingest(store, [documents / "a.md"], "default", settings=settings)
    for extra in ("-wal", "-shm"):
        (store / f"{DATABASE}{extra}").unlink(missing_ok=True)
    content = (store / DATABASE).read_bytes()
    (store / DATABASE).write_bytes(content[:bytes_left])
    with pytest.raises(StoreDamaged, match="openbook restore BACKUP") as caught:
        held(store, settings)
    assert caught.value.exit_code == 4


def test_the_command_ends_with_4_where_the_database_is_truncated(store, documents, settings):
    ingest(store, [documents / "a.md"], "default", settings=settings)
    (store / DATABASE).write_bytes((store / DATABASE).read_bytes()[:5000])
    finished = subprocess.run(
        [sys.executable, "-m", "openbook", "doctor", "--store", str(store), "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.stdout:
        assert not json.loads(finished.stdout)["healthy"]
    assert finished.returncode in (1, 4)


def test_a_lock_that_cannot_be_made_is_explained(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnreachable, match="cannot be written"), writer_lock(tmp_path / "file" / "store", 0):
        pass
