from __future__ import annotations

from pathlib import Path

import pytest

from experiments.report.write import write_report
from tests.experiments.report.html_page import HtmlPage, read_page
from tests.experiments.report.sample_run import write_sample


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The inputs of a report, complete and sound."""
    write_sample(tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def page(run: Path) -> HtmlPage:
    """The HTML report of that run, parsed."""
    return read_page(write_report(run)[0])
