"""The store: one writer, whole transactions, and errors that say what to do."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from corpus.errors import UsageError
from corpus.schema import Document
from indexer.embedding.fingerprint import PROBE_TEXTS, Fingerprint
from indexer.errors import StoreDamaged, StoreLocked, StoreUnreachable
from indexer.store import queries
from indexer.store.database import DATABASE, connect
from indexer.store.records import NewChunk, NewVersion
from indexer.store.writer import StoreWriter, check_collection_name, open_writer

DIMENSION = 4
FINGERPRINT = Fingerprint("m", DIMENSION, 64, "", "", np.ones((len(PROBE_TEXTS), DIMENSION), np.float32).tobytes())


def version(document_id: str, text: str = "some text") -> NewVersion:
    vector = np.array([1, 0, 0, 0], dtype=np.float32).tobytes()
    chunk = NewChunk(0, len(text), 2, text, text.encode(), vector)
    return NewVersion(Document(id=document_id, text=text), "source", "hash", "recipe", (chunk,))


def filled(writer: StoreWriter, *ids: str) -> None:
    if not queries.collections(writer.connection):
        writer.add_collection("default", FINGERPRINT)
    writer.put("default", [version(id_) for id_ in ids])


def chunk_ids(folder: Path) -> list[int]:
    with closing(connect(folder)) as connection:
        blocks = queries.live_vector_blocks(connection, "default", DIMENSION)
        return [id_ for ids, _ in blocks for id_ in ids.tolist()]


def test_ids_of_chunks_are_never_used_again_even_after_the_last_one_was_deleted(store):
    with open_writer(store, 0) as writer:
        filled(writer, "a", "b", "c")
        writer.delete("default", ["c"])
    with open_writer(store, 0) as writer:
        filled(writer, "d")
    assert chunk_ids(store) == [1, 2, 4]


def test_a_replaced_version_is_kept_but_its_chunks_are_no_longer_live(store):
    with open_writer(store, 0) as writer:
        filled(writer, "a")
        writer.put("default", [version("a", "other text")])
        versions = writer.connection.execute("SELECT text FROM versions ORDER BY key").fetchall()
        assert versions == [("some text",), ("other text",)]
        assert queries.passages(writer.connection, [1, 2]).keys() == {2}
        detail = queries.document(writer.connection, "default", "a")
    assert detail is not None
    assert (detail.text, [chunk.text for chunk in detail.chunks]) == ("other text", ["other text"])


def test_a_deleted_document_leaves_no_row_behind(store):
    with open_writer(store, 0) as writer:
        filled(writer, "a")
        writer.put("default", [version("a", "other text")])
        writer.delete("default", ["a"])
        for table in ("documents", "versions", "chunks", "embeddings"):
            assert writer.connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_transaction_that_fails_changes_nothing(store):
    bad = version("b")
    object.__setattr__(bad.chunks[0], "vector", None)
    with open_writer(store, 0) as writer:
        filled(writer, "a")
        with pytest.raises(Exception, match="NOT NULL"):
            writer.put("default", [version("c"), bad])
        assert queries.document_ids(writer.connection, "default") == ("a",)


def test_a_second_writer_waits_and_then_says_so(store):
    with open_writer(store, 0), pytest.raises(StoreLocked, match="another process") as caught, open_writer(store, 0.1):
        pass
    assert caught.value.exit_code == 3


def test_a_second_writer_gets_its_turn_when_the_first_is_done(store):
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with open_writer(store, 0):
            entered.set()
            leave.wait(5)

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait(5)
    threading.Timer(0.2, leave.set).start()
    with open_writer(store, 5) as writer:
        filled(writer, "a")
    holder.join()
    assert chunk_ids(store) == [1]


def test_readers_are_never_blocked_by_a_writer(store):
    with open_writer(store, 0) as writer:
        filled(writer, "a")
        writer.connection.execute("BEGIN IMMEDIATE")
        writer.connection.execute("DELETE FROM documents")
        assert chunk_ids(store) == [1]
        writer.connection.execute("ROLLBACK")


def _connect(folder: Path, results) -> None:
    with closing(connect(folder)) as connection:
        results.put(connection.execute("SELECT count(*) FROM collections").fetchone()[0])


def test_many_processes_may_make_a_store_at_once(store):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    processes = [context.Process(target=_connect, args=(store, results)) for _ in range(4)]
    for process in processes:
        process.start()
    assert [results.get(timeout=60) for _ in processes] == [0, 0, 0, 0]
    for process in processes:
        process.join()


def test_a_file_that_is_no_database_is_named(store):
    store.mkdir()
    (store / DATABASE).write_bytes(b"this is no database, " * 500)
    with pytest.raises(StoreDamaged, match=r"store\.db is damaged") as caught:
        connect(store)
    assert caught.value.exit_code == 4


def test_an_emptied_database_beside_published_vectors_is_damage_and_no_new_store(store):
    with closing(connect(store)):
        pass
    (store / "vectors" / "default" / "gen-1").mkdir(parents=True)
    (store / DATABASE).write_bytes(b"")
    for extra in ("-wal", "-shm"):
        (store / f"{DATABASE}{extra}").unlink(missing_ok=True)
    with pytest.raises(StoreDamaged, match="empty or gone"):
        connect(store)


def test_a_store_of_a_later_format_is_refused(store):
    with closing(connect(store)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreDamaged, match="format 99"):
        connect(store)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnreachable, match="file/store"):
        connect(tmp_path / "file" / "store")


def test_a_full_disk_is_named_and_what_was_committed_stays(store):
    with open_writer(store, 0) as writer:
        filled(writer, "a")
        pages = writer.connection.execute("PRAGMA page_count").fetchone()[0]
        writer.connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(Exception, match="full"):
            writer.put("default", [version("b", "long " * 100_000)])
    assert chunk_ids(store) == [1]


def test_readers_cannot_write(store):
    with closing(connect(store, read_only=True)) as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM documents")


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a" * 65, "a\n"])
def test_a_name_that_cannot_be_a_folder_is_no_collection(name):
    with pytest.raises(UsageError):
        check_collection_name(name)


def steps_of_another_document(folder: Path, documents: int) -> int:
    """Return in how many hundreds of SQLite's steps one more document is looked up and put beside so many."""
    with open_writer(folder, 0) as writer:
        writer.add_collection("default", FINGERPRINT)
        writer.put("default", [version(f"d{number}", f"text {number}") for number in range(documents)])
        (last,) = writer.connection.execute("SELECT max(key) FROM versions").fetchone()
        steps = 0

        def count() -> int:
            nonlocal steps
            steps += 1
            return 0

        writer.connection.set_progress_handler(count, 100)
        queries.version_stamps(writer.connection, "default", ["one more"])
        queries.file_stamps_of(writer.connection, "default", ["one more"])
        queries.documents_of_source_hashes(writer.connection, "default", [f"hash {number}" for number in range(256)])
        queries.known_vectors(writer.connection, "default", [f"text {number}!".encode() for number in range(256)])
        queries.signatures_after(writer.connection, "default", last, 100)
        queries.signatures_of(writer.connection, range(1, 257))
        writer.put("default", [version("one more", "one more text")])
        writer.connection.set_progress_handler(None, 0)
        return steps


def test_a_document_takes_no_more_steps_beside_many_others_than_beside_few(tmp_path):
    few, many = (steps_of_another_document(tmp_path / str(count), count) for count in (500, 4000))
    assert many < 1.2 * few
