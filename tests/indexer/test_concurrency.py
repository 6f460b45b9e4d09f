"""Many at once: writers take turns, readers are never in the way, and every hit is a passage of the store."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from indexer.index import Index
from indexer.ingesting.deletion import delete
from indexer.ingesting.ingest import ingest
from indexer.store import queries
from indexer.store.database import connect
from indexer.store.writer import open_writer
from tests.indexer.test_store import FINGERPRINT, version

ROOT = Path(__file__).parents[2]


def together(*jobs) -> None:
    """Run each job in a thread of its own, and raise what any of them raised."""
    problems: list[BaseException] = []

    def guarded(job) -> None:
        try:
            job()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def test_eight_threads_of_fifty_upserts_and_a_reader_never_meet_a_locked_database(store):
    with open_writer(store, 0) as writer:
        writer.add_collection("default", FINGERPRINT)
    done = threading.Event()
    counts: list[int] = []

    def upsert(thread: int) -> None:
        for number in range(50):
            with open_writer(store, 60) as writer:
                writer.put("default", [version(f"d{thread}-{number % 10}", f"text {thread} {number}")])

    def scan() -> None:
        with closing(connect(store, read_only=True)) as connection:
            while not done.is_set():
                rows = connection.execute("SELECT document_id, text FROM live_chunks").fetchall()
                assert len({id_ for id_, _ in rows}) == len(rows), "a document is there twice"
                counts.append(len(rows))

    def write() -> None:
        try:
            together(*(lambda thread=thread: upsert(thread) for thread in range(8)))
        finally:
            done.set()

    together(write, scan)
    assert counts == sorted(counts)
    with closing(connect(store)) as connection:
        texts = dict(connection.execute("SELECT document_id, text FROM live_chunks"))
        assert queries.collection(connection, "default").revision == 400
    assert texts == {
        f"d{thread}-{number}": f"text {thread} {40 + number}" for thread in range(8) for number in range(10)
    }


def test_four_deletes_at_once_leave_counts_that_agree(store):
    with open_writer(store, 0) as writer:
        writer.add_collection("default", FINGERPRINT)
        writer.put("default", [version(f"d{number}") for number in range(40)])

    def remove(first: int) -> None:
        for number in range(first, 40, 8):
            with open_writer(store, 60) as writer:
                writer.delete("default", [f"d{number}"])

    together(*(lambda first=first: remove(first) for first in range(4)))
    with closing(connect(store)) as connection:
        assert queries.count_documents(connection, "default") == 20
        assert (
            queries.count_live_chunks(connection, "default") == queries.count_live_vectors(connection, "default") == 20
        )
        assert connection.execute("SELECT count(*) FROM lexical").fetchone() == (20,)


def test_two_ingests_at_once_both_complete(store, settings, tmp_path, tiny_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number in range(20):
            (tmp_path / name / f"{name}{number}.md").write_text(f"text {name} of number {number}")
    environment = {**os.environ, "OPENBOOK_EMBEDDER": str(tiny_path), "OPENBOOK_PARSER_WORKERS": "0"}
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "openbook", "ingest", str(tmp_path / name), "--store", str(store)],
            cwd=ROOT,
            env=environment,
            stderr=subprocess.PIPE,
        )
        for name in ("a", "b")
    ]
    for process in running:
        _, error = process.communicate(timeout=200)
        assert process.returncode == 0, error
    with closing(Index.open(store, settings=settings)) as index:
        expected = sorted(f"{name}{number}.md" for name in ("a", "b") for number in range(20))
        assert [row.id for row in index.documents("default")] == expected
        assert sorted(hit.document_id for hit in index.search("default", "text", 100).hits) == expected


def test_every_hit_has_the_text_of_its_id_while_one_writes_and_eight_search(store, settings, tmp_path):
    path = tmp_path / "documents.jsonl"

    def add(texts: dict[str, str]) -> None:
        path.write_text("\n".join(json.dumps({"id": id_, "text": text}) for id_, text in texts.items()))
        ingest(store, [path], "default", settings=settings)

    add({f"seed{number}": f"marker seed{number} round 0" for number in range(20)})
    done = threading.Event()
    searched: list[int] = []

    def write() -> None:
        random_ = random.Random(5)
        try:
            for round_ in range(1, 9):
                add({f"d{n}": f"marker d{n} round {round_}" for n in random_.sample(range(80), 20)})
                with closing(connect(store)) as connection:
                    held = [id_ for id_ in queries.document_ids(connection, "default") if id_.startswith("d")]
                delete(store, "default", random_.sample(held, 5), settings)
        finally:
            done.set()

    with closing(Index.open(store, settings=settings)) as index:

        def search() -> None:
            with closing(sqlite3.connect(store / "store.db")) as connection:
                while not done.is_set():
                    for hit in index.search("default", "marker d7", 10).hits:
                        assert hit.text.startswith(f"marker {hit.document_id} round")
                        row = connection.execute("SELECT text FROM chunks WHERE id = ?", (hit.chunk_id,)).fetchone()
                        # Deleted since the search, or the same text: never another's.
                        assert row is None or row[0] == hit.text
                    searched.append(1)

        together(write, *(search for _ in range(8)))
    assert len(searched) > 8


def test_ids_are_not_used_again_after_a_delete_and_a_restart(store, tiny_path, tmp_path):
    program = (
        "import sys; from pathlib import Path; from contextlib import closing\n"
        "from indexer.ingesting.ingest import ingest; from indexer.ingesting.deletion import delete\n"
        "from indexer.index import Index\n"
        "from indexer.settings import IndexerSettings\n"
        "store, embedder, path, gone = sys.argv[1:5]\n"
        "settings = IndexerSettings(embedder=embedder, parser_workers=0)\n"
        "if gone: delete(Path(store), 'default', [gone], settings)\n"
        "if path: ingest(Path(store), [Path(path)], 'default', settings=settings)\n"
        "with closing(Index.open(Path(store), settings=settings)) as index:\n"
        "    print(*(f'{hit.chunk_id}={hit.text}' for hit in index.search('default', 'x', 9).hits), sep=';')\n"
    )

    def run(path: str, gone: str) -> dict[int, str]:
        command = [sys.executable, "-c", program, str(store), str(tiny_path), path, gone]
        finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        pairs = (pair.split("=") for pair in finished.stdout.strip().splitlines()[-1].split(";"))
        return {int(id_): text for id_, text in pairs}

    for name in ("alpha", "beta", "gamma"):
        (tmp_path / "first" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "first" / f"{name}.md").write_text(name)
    assert run(str(tmp_path / "first"), "") == {1: "alpha", 2: "beta", 3: "gamma"}
    (tmp_path / "second.md").write_text("delta")
    assert run(str(tmp_path / "second.md"), "gamma.md") == {1: "alpha", 2: "beta", 4: "delta"}


@pytest.mark.parametrize("rounds", [3])
def test_nothing_drifts_however_often_a_document_is_added_and_deleted(store, settings, tmp_path, rounds):
    path = tmp_path / "a.md"
    for number in range(rounds):
        path.write_text(f"first text {number}")
        ingest(store, [path], "default", settings=settings)
        delete(store, "default", ["a.md"], settings)
    path.write_text("last text")
    ingest(store, [path], "default", settings=settings)
    with closing(Index.open(store, settings=settings)) as index:
        assert [hit.text for hit in index.search("default", "last text", 9).hits] == ["last text"]
    with closing(connect(store)) as connection:
        for table in ("documents", "versions", "chunks", "embeddings", "lexical"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (1,)


def test_two_readers_of_one_store_serve_the_same_revision_after_an_ingest(store, settings, tmp_path):
    path = tmp_path / "a.md"
    path.write_text("first text")
    ingest(store, [path], "default", settings=settings)
    with closing(Index.open(store, settings=settings)) as one, closing(Index.open(store, settings=settings)) as other:
        for text in ("second text", "third text"):
            path.write_text(text)
            done = ingest(store, [path], "default", settings=settings)
            results = [index.search("default", "text", 1) for index in (one, other)]
            assert [(result.generation, result.revision) for result in results] == [
                (done.generation, done.revision)
            ] * 2
            assert [result.hits[0].text for result in results] == [text] * 2
