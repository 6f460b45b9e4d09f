"""`openbook watch` as a person runs it: in a process of its own, ended by a signal."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.index import Index
from indexer.store.lock import writer_lock

SECONDS = 60


class Watching:
    """A running `openbook watch --json`."""

    def __init__(self, folder: Path, store: Path, model: Path, *options: str) -> None:
        program = "import openbook; openbook.main()"
        command = [sys.executable, "-c", program, "watch", str(folder), "--store", str(store), "--json", *options]
        environment = {**os.environ, "OPENBOOK_EMBEDDER": str(model), "OPENBOOK_LOCK_WAIT_SECONDS": "0.2"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.notes: queue.Queue[str] = queue.Queue()
        for stream, lines in ((self.process.stdout, self.lines), (self.process.stderr, self.notes)):
            threading.Thread(target=_pass_on, args=(stream, lines)).start()

    def next(self) -> tuple[str, str]:
        """Return status and file name of the next change."""
        record = json.loads(self.lines.get(timeout=SECONDS))
        return record["status"], Path(record["path"]).name

    def wait_for(self, words: str) -> None:
        while words not in self.notes.get(timeout=SECONDS):
            pass

    def end(self, with_: signal.Signals) -> int:
        self.process.send_signal(with_)
        return self.process.wait(SECONDS)


def _pass_on(stream, lines: queue.Queue[str]) -> None:
    with stream:
        for line in stream:
            lines.put(line)


@pytest.fixture
def watching(folder, store, tiny_path) -> Iterator[Watching]:
    (folder / "first.md").write_text("the first text")
    running = Watching(folder, store, tiny_path)
    assert running.next() == ("added", "first.md")
    running.wait_for("Watching 1 document")
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.wait()


def texts(index: Index) -> list[str]:
    return [index.document("default", row.id).text for row in index.documents("default")]


def test_what_is_added_changed_renamed_and_deleted_is_followed(watching, folder, index):
    (folder / "a.md").write_text("added")
    assert watching.next() == ("added", "a.md")
    (folder / "a.md").write_text("changed since")
    assert watching.next() == ("updated", "a.md")
    (folder / "a.md").rename(folder / "b.md")
    assert watching.next() == ("updated", "b.md")
    (folder / "sub").mkdir()
    (folder / "sub" / "deep.md").write_text("deep text")
    assert watching.next() == ("added", "deep.md")
    (folder / "b.md").unlink()
    assert watching.next() == ("deleted", "b.md")
    assert texts(index) == ["the first text", "deep text"]
    assert watching.end(signal.SIGINT) == 130


def test_a_file_that_is_written_slowly_is_taken_once_it_is_complete(watching, folder, index):
    with (folder / "slow.md").open("w") as slow:
        for number in range(12):
            slow.write(f"part {number} ")
            slow.flush()
            time.sleep(0.1)
    assert watching.next() == ("added", "slow.md")
    assert index.document("default", "slow.md").text.strip().endswith("part 11")
    assert watching.end(signal.SIGTERM) == 0
    assert watching.lines.empty()


def test_the_store_is_locked_only_while_a_change_is_written_and_waited_for(watching, folder, store):
    with writer_lock(store, 5):
        (folder / "a.md").write_text("added")
        watching.wait_for("being written by another process")
    assert watching.next() == ("added", "a.md")
    with writer_lock(store, 5):
        pass
    assert watching.end(signal.SIGTERM) == 0


def test_every_file_of_a_folder_may_be_deleted_before_the_eyes_of_the_watcher(watching, folder, index):
    (folder / "first.md").unlink()
    assert watching.next() == ("deleted", "first.md")
    assert texts(index) == []
    assert watching.end(signal.SIGTERM) == 0


def test_what_changed_while_nobody_watched_is_found_and_a_folder_that_emptied_is_not_believed(
    folder, store, tiny_path, index
):
    (folder / "first.md").write_text("the first text")
    running = Watching(folder, store, tiny_path)
    assert running.next() == ("added", "first.md")
    running.wait_for("Watching 1 document")
    assert running.end(signal.SIGTERM) == 0
    (folder / "first.md").unlink()
    again = Watching(folder, store, tiny_path, "--sweep", "1")
    again.wait_for("1 of 1 documents are missing")
    again.wait_for("1 of 1 documents are missing")
    assert texts(index) == ["the first text"]
    assert again.end(signal.SIGTERM) == 0
