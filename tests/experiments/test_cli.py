"""The commands as a person types them: what they print, and how they end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import openbook as program
from corpus.errors import OpenbookError
from experiments import start
from experiments.errors import RunNotFound, SpecError
from tests.experiments.conftest import BASE_ARMS


def run(*arguments: str | Path):
    result = CliRunner().invoke(program.cli, [str(argument) for argument in arguments], standalone_mode=False)
    if isinstance(result.exception, OpenbookError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


@pytest.fixture
def finished(openbook, write_spec, tmp_path, monkeypatch) -> Path:
    """A finished run, made by the command itself."""
    monkeypatch.setattr(start, "OpenbookCommands", lambda engine_url: openbook)
    result = run("experiment", "run", write_spec(BASE_ARMS), "--runs", tmp_path / "runs")
    assert result.return_value in (None, 0)
    return next(path for path in (tmp_path / "runs").iterdir() if path.is_dir())


def test_a_run_prints_the_table_the_verdict_and_the_reports_path(finished, write_spec, tmp_path):
    result = run("experiment", "run", write_spec(BASE_ARMS), "--runs", tmp_path / "runs")
    assert "closed_book" in result.stdout
    assert "On 6 questions, retrieval answered 100 %" in result.stdout
    assert result.stdout.rstrip().endswith(str(finished / "report.html"))
    assert "Going on with the run" in result.stderr


def test_a_run_prints_its_results_as_json(finished, write_spec, tmp_path):
    result = run("experiment", "run", write_spec(BASE_ARMS), "--runs", tmp_path / "runs", "--json")
    assert result.stdout == (finished / "results.json").read_text(encoding="utf-8")


def test_a_failed_gate_is_exit_code_1(finished, openbook, write_spec, tmp_path):
    openbook.refuse = {"What is the keeper of the mill called?"}
    result = run("experiment", "run", write_spec(BASE_ARMS), "--runs", tmp_path / "runs", "--fresh")
    assert result.return_value == 1
    assert "Gate failed: errors." in result.stdout


@pytest.mark.parametrize("name", ["village", "{folder}"])
def test_a_report_is_written_again_by_name_or_folder(name, finished, tmp_path):
    before = (finished / "report.html").read_bytes()
    (finished / "report.html").unlink()
    run("report", name.format(folder=finished), "--runs", tmp_path / "runs")
    assert (finished / "report.html").read_bytes() == before


def test_a_run_that_is_not_there_is_told_with_the_nearest_name(finished, tmp_path):
    with pytest.raises(RunNotFound, match=r"Did you mean 'village'\? Runs: village\."):
        run("report", "vilage", "--runs", tmp_path / "runs")


def test_without_runs_the_report_says_how_to_make_one(tmp_path):
    with pytest.raises(RunNotFound, match="openbook experiment run demo"):
        run("report", "demo", "--runs", tmp_path / "none")


def test_the_list_shows_what_is_shipped_and_what_was_run(finished, tmp_path):
    (tmp_path / "runs" / "begun-12345678").mkdir()
    (tmp_path / "runs" / "begun-12345678" / "run.json").write_text("{}")
    lines = run("experiment", "list", "--runs", tmp_path / "runs").stdout.splitlines()
    assert any(line.startswith("shipped  demo") for line in lines)
    assert any(finished.name in line and "On 6 questions" in line for line in lines)
    assert any("begun-12345678" in line and "unfinished" in line for line in lines)


def test_a_misspelt_specification_gets_the_nearest_name():
    with pytest.raises(SpecError, match="Did you mean 'demo'"):
        run("experiment", "run", "demoo")


def test_the_checkpoint_of_a_run_without_training_cannot_be_made(write_spec, tmp_path):
    with pytest.raises(OpenbookError, match="no arm with 'checkpoint: finetuned'"):
        run("finetune", write_spec(BASE_ARMS), "--runs", tmp_path / "runs")


def test_help_loads_nothing_heavy():
    code = (
        "import sys, openbook\n"
        "from click.testing import CliRunner\n"
        "for command in ('experiment', 'finetune', 'report', 'corpus', 'bench'):\n"
        "    assert CliRunner().invoke(openbook.cli, [command, '--help']).exit_code == 0, command\n"
        "heavy = {'torch', 'transformers', 'faiss', 'fastapi', 'sentence_transformers', 'scipy', 'numpy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
