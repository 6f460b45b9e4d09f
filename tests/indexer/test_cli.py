"""The commands as a person types them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from corpus.errors import OpenbookError
from openbook import cli


@pytest.fixture(autouse=True)
def surroundings(tmp_path, tiny_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENBOOK_EMBEDDER", str(tiny_path))
    Path("docs").mkdir()
    Path("docs/ferry.md").write_text("# The ferry\n\nIt costs four shells.")
    Path("docs/guild.txt").write_text("The guild has forty members.")


def openbook(*arguments: str) -> tuple[str, str, int]:
    """Run the command line in this process; return stdout, stderr and the exit code."""
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    if isinstance(result.exception, OpenbookError):
        return result.stdout, str(result.exception), result.exception.exit_code
    if result.exception is not None:
        raise result.exception
    return result.stdout, result.stderr, result.return_value or 0


def test_ingest_search_list_show_and_delete():
    out, _, code = openbook("ingest", "docs")
    assert (out.split(" in ")[0], code) == ("2 added", 0)
    assert "2 chunks, 2 of them embedded" in out
    out, _, _ = openbook("documents", "list")
    assert out.splitlines() == ["ferry.md  (1 chunk)  The ferry", "guild.txt  (1 chunk)  guild"]
    out, _, _ = openbook("documents", "show", "ferry.md")
    assert "source: docs/ferry.md" in out
    assert out.endswith("It costs four shells.\n")
    out, _, _ = openbook("search", "The guild has forty members.", "--top-k", "1")
    assert out.startswith("1. guild.txt  guild  (score 1.000, passage 2)\n")
    assert openbook("documents", "delete", "guild.txt")[0].startswith("1 deleted.")
    assert len(json.loads(openbook("search", "guild", "--json")[0])["hits"]) == 1


def test_json_has_a_line_for_every_file_and_a_summary():
    Path("docs/bad.txt").write_bytes(b"\xff")
    Path("docs/scan.png").write_bytes(b"%PDF")
    out, err, code = openbook("ingest", "docs", "--json")
    *outcomes, summary = [json.loads(line) for line in out.splitlines()]
    assert {outcome["path"]: outcome["status"] for outcome in outcomes} == {
        "docs/bad.txt": "failed",
        "docs/ferry.md": "added",
        "docs/guild.txt": "added",
        "docs/scan.png": "skipped",
    }
    assert summary["summary"].items() >= {"added": 2, "failed": 1, "skipped": 1, "generation": 1}.items()
    assert code == 1
    assert "docs/bad.txt: failed: text in no encoding" in err
    rows = [json.loads(line) for line in openbook("documents", "list", "--json")[0].splitlines()]
    assert [row["id"] for row in rows] == ["ferry.md", "guild.txt"]
    shown = json.loads(openbook("documents", "show", "ferry.md", "--json")[0])
    assert [chunk["text"] for chunk in shown["chunks"]] == [shown["text"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ingest", "dcos"], "There is no file or folder 'dcos'"),
        (["search", "x"], "store is empty"),
        (["documents", "list"], "store is empty"),
        (["documents", "delete", "x"], "store is empty"),
        (["ingest", "docs", "--collection", "../up"], "cannot be named"),
        (["ingest", "docs", "--embedder", "./nowhere"], "no folder './nowhere'"),
    ],
)
def test_wrong_use_is_explained(arguments, message):
    out, err, code = openbook(*arguments)
    assert (out, code) == ("", 2)
    assert message in err


def test_a_misspelt_document_or_collection_gets_the_nearest():
    openbook("ingest", "docs")
    assert "Did you mean 'ferry.md'" in openbook("documents", "show", "fery.md")[1]
    assert "Did you mean 'ferry.md'" in openbook("documents", "delete", "fery.md")[1]
    assert "Did you mean 'default'" in openbook("search", "x", "--collection", "defualt")[1]


def test_nothing_is_deleted_where_one_document_does_not_exist():
    openbook("ingest", "docs")
    assert openbook("documents", "delete", "ferry.md", "unknown")[2] == 2
    assert len(openbook("documents", "list")[0].splitlines()) == 2


def test_help_and_mistakes_need_no_heavy_library():
    program = (
        "import sys, click\nfrom click.testing import CliRunner\nfrom openbook import cli\n"
        "CliRunner().invoke(cli, ['ingest', '--help']); CliRunner().invoke(cli, ['ingest', 'nowhere'])\n"
        "CliRunner().invoke(cli, ['documents', 'list'])\n"
        "print([name for name in ('torch', 'sentence_transformers', 'transformers') if name in sys.modules])"
    )
    started = time.monotonic()
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"
    assert time.monotonic() - started < 10
