from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import OpenbookError
from experiments.report.write import write_report
from tests.experiments.report.sample_run import write_sample

INPUTS = ("results.json", "answers.jsonl", "scores.jsonl", "corpora/main/questions.jsonl")


def test_both_reports_are_written_into_the_run_folder_and_nothing_else(run: Path) -> None:
    before = {path for path in run.rglob("*") if path.is_file()}
    html, plain = write_report(run)
    assert (html, plain) == (run / "report.html", run / "report.md")
    assert {path for path in run.rglob("*") if path.is_file()} == before | {html, plain}


def test_the_same_run_gives_the_same_bytes_wherever_it_lies(run: Path, tmp_path: Path) -> None:
    write_sample(tmp_path / "elsewhere")
    first = [path.read_bytes() for path in write_report(run)]
    assert [path.read_bytes() for path in write_report(run)] == first
    assert [path.read_bytes() for path in write_report(tmp_path / "elsewhere")] == first


@pytest.mark.parametrize("name", INPUTS)
def test_a_missing_input_is_named_with_what_to_do(run: Path, name: str) -> None:
    (run / name).unlink()
    with pytest.raises(OpenbookError, match=f"{Path(name).name}.*`"):
        write_report(run)


@pytest.mark.parametrize("name", INPUTS)
def test_a_malformed_input_is_named_with_what_to_do(run: Path, name: str) -> None:
    with (run / name).open("a", encoding="utf-8") as file:
        file.write('{"arm": "ra')
    with pytest.raises(OpenbookError, match=f"{Path(name).name}.*`"):
        write_report(run)


def test_a_malformed_line_is_named_by_its_number(run: Path) -> None:
    lines = (run / "answers.jsonl").read_text(encoding="utf-8").split("\n")
    lines[2] = '{"arm": "rag"}'
    (run / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(OpenbookError, match=r"answers\.jsonl:3 "):
        write_report(run)


def test_a_run_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(OpenbookError, match="nowhere"):
        write_report(tmp_path / "nowhere")


def test_a_failed_report_leaves_the_older_one_as_it_was(run: Path) -> None:
    html, _ = write_report(run)
    older = html.read_bytes()
    (run / "results.json").write_text("{}", encoding="utf-8")
    with pytest.raises(OpenbookError):
        write_report(run)
    assert html.read_bytes() == older
