"""`openbook ingest` as a person types it: where documents come from, what is said of each, and the exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.index import Index
from indexer.store.database import DATABASE
from indexer.store.lock import writer_lock
from openbook import cli
from tests.indexer.parsing.samples import make_pdf
from tests.indexer.test_cli import openbook, surroundings  # noqa: F401


def ingested(*arguments: str) -> tuple[dict[str, dict], dict, int]:
    """Ingest; return the records by path, the summary and the exit code."""
    out, _, code = openbook("ingest", *arguments, "--json")
    *records, summary = [json.loads(line) for line in out.splitlines()]
    return {record["path"]: record for record in records}, summary["summary"], code


def in_process(*arguments: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", "import openbook; openbook.main()", *arguments]
    return subprocess.run(command, capture_output=True, check=False, timeout=300, **options)


def test_a_record_says_all_that_is_known_of_a_file():
    Path("docs/copy.md").write_bytes(Path("docs/ferry.md").read_bytes())
    records, summary, code = ingested("docs")
    assert records["docs/copy.md"].keys() == {
        "path", "status", "id", "duplicate_of", "near_duplicate_of", "similarity", "reason", "notes", "documents",
        "problems", "chunks", "tokens", "seconds",
    }  # fmt: skip
    assert (records["docs/ferry.md"]["status"], records["docs/ferry.md"]["duplicate_of"]) == ("duplicate", "copy.md")
    added = records["docs/copy.md"]
    assert (added["status"], added["chunks"], code) == ("added", 1, 0)
    assert added["tokens"] > 0
    assert added["seconds"] > 0
    assert (summary["added"], summary["duplicate"]) == (2, 1)


def test_one_bad_file_among_good_ones_is_reported_and_they_are_searchable():
    Path("docs/broken.pdf").write_bytes(b"%PDF" + bytes(range(256)))
    Path("docs/latin.txt").write_bytes("Le café de la gare coûte quatre francs à midi.".encode("latin-1"))
    Path("docs/good.pdf").write_bytes(make_pdf([["The harbour master keeps the tables."]]))
    records, _, code = ingested("docs")
    assert {path: record["status"] for path, record in records.items()} == {
        "docs/broken.pdf": "failed",
        "docs/ferry.md": "added",
        "docs/good.pdf": "added",
        "docs/guild.txt": "added",
        "docs/latin.txt": "added",
    }
    assert records["docs/broken.pdf"]["reason"]
    assert code == 1
    assert "café" in openbook("documents", "show", "latin.txt")[0]


def test_a_page_without_text_is_noted_and_a_failure_only_under_strict():
    Path("docs/half.pdf").write_bytes(make_pdf([["The harbour master keeps the tables."], []]))
    records, summary, code = ingested("docs")
    assert (records["docs/half.pdf"]["notes"], summary["incomplete"], code) == (["page 2: no text"], 1, 0)
    assert ingested("docs", "--strict")[2] == 1
    assert "docs/half.pdf: page 2: no text" in openbook("ingest", "docs", "--strict")[1]


def test_two_scanned_files_are_not_duplicates_of_each_other():
    Path("docs/one.pdf").write_bytes(make_pdf([[]]))
    Path("docs/two.pdf").write_bytes(make_pdf([[], []]))
    records, _, code = ingested("docs")
    for name in ("docs/one.pdf", "docs/two.pdf"):
        assert (records[name]["status"], records[name]["duplicate_of"]) == ("skipped", None)
        assert "no text" in records[name]["reason"]
    assert code == 0
    assert ingested("docs", "--strict")[2] == 1


def test_a_document_comes_from_stdin():
    result = CliRunner().invoke(cli, ["ingest", "-", "--stdin-name", "notes.md"], input="# Notes\n\ntext of mine")
    assert result.exit_code == 0, result.output
    assert "text of mine" in openbook("documents", "show", "notes.md")[0]


def test_a_quoted_glob_is_understood():
    assert list(ingested("docs/*.txt")[0]) == ["docs/guild.txt"]
    assert list(ingested("docs", "--exclude", "*.txt", "--reread")[0]) == ["docs/ferry.md"]


def test_a_private_address_is_a_failure_and_the_others_are_ingested():
    records, _, code = ingested("http://169.254.169.254/latest/", "docs", "--allow-urls")
    failed = records["http://169.254.169.254/latest/"]
    assert failed["status"] == "failed"
    assert "link-local" in failed["reason"]
    assert (records["docs/ferry.md"]["status"], code) == ("added", 1)


def test_a_dry_run_lists_what_would_happen():
    out, _, code = openbook("ingest", "docs", "--dry-run")
    *lines, last = out.splitlines()
    assert lines == ["added      docs/ferry.md", "added      docs/guild.txt"]
    assert last.startswith("Would be: 2 added.")
    assert code == 0
    assert not Path("home").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dosc"], "Did you mean 'docs'?"),
        (["docs/ferry.dm"], "Did you mean 'ferry.md'?"),
        (["https://example.org/a.md"], "--allow-urls"),
        (["file:///etc/passwd"], "--allow-urls"),
        (["-"], "--stdin-name"),
        (["-", "--stdin-name", "notes.exe"], "does not"),
        (["docs", "--metadata", "team"], "KEY=VALUE"),
        (["docs/*.md", "--delete-missing"], "cannot be told"),
        (["nowhere/*.md"], "There is no folder 'nowhere'"),
        (["docs", "--include", "*.pdf"], "No documents in 'docs'"),
    ],
)
def test_wrong_use_says_what_is_wrong_and_what_to_do(arguments, message):
    out, err, code = openbook("ingest", *arguments)
    assert (out, code) == ("", 2)
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["ingset", "docs"], "Did you mean 'ingest'?"), (["ingest", "docs", "--strikt"], "--strict")],
)
def test_a_mistyped_command_or_option_gets_the_nearest(arguments, message):
    finished = in_process(*arguments)
    assert finished.returncode == 2
    assert message in finished.stderr.decode()


def test_a_locked_store_is_3_and_a_damaged_one_4(tmp_path):
    store = tmp_path / "home" / "store"
    with writer_lock(store, 5):
        assert openbook("ingest", "docs")[2] == 3
    (store / DATABASE).write_bytes(b"no database at all" * 100)
    assert openbook("ingest", "docs")[2] == 4


def test_an_interrupt_ends_with_130_and_keeps_what_was_committed(tmp_path):
    for number in range(400):
        Path(f"docs/d{number:03}.md").write_text(f"text number {number} of many " * 30)
    command = [sys.executable, "-c", "import openbook; openbook.main()", "ingest", "docs", "--json"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = json.loads(running.stdout.readline())
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert (first["status"], running.returncode) == ("added", 130)
    with closing(Index.open(tmp_path / "home" / "store")) as index:
        assert 0 < index.count_documents("default") <= 402


def test_searches_are_answered_while_a_large_file_is_read(tmp_path, tiny_path):
    openbook("ingest", "docs")
    Path("large").mkdir()
    with Path("large/large.txt").open("w") as large:
        for number in range(400_000):
            large.write(f"line {number} of a large file without an end\n")
    with closing(Index.open(tmp_path / "home" / "store")) as index:
        index.search("default", "ferry", 1)
        command = [sys.executable, "-c", "import openbook; openbook.main()", "ingest", "large", "--dry-run"]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ})
        slowest, searches = 0.0, 0
        while running.poll() is None:
            started = time.monotonic()
            assert index.search("default", "ferry", 1).hits
            slowest, searches = max(slowest, time.monotonic() - started), searches + 1
            time.sleep(0.05)
    assert running.returncode == 0
    assert searches > 3
    assert slowest < 2
