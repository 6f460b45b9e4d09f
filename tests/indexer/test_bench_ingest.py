"""The benchmark of ingest: it measures what it says, over files of one's own too."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from indexer.benchmarks import growing, ingesting
from tests.conftest import REPOSITORY, openbook_environment
from tests.waiting import wait_for


def test_the_same_chunks_are_embedded_by_each_contender(tmp_path, settings):
    for number in range(5):
        (tmp_path / f"{number}.md").write_text(f"# Note {number}\n\n" + "The ferry costs four shells. " * 12)
    result = ingesting.measure(tmp_path, 2, settings)
    assert [block.files for block in result.blocks] == [3, 2]
    assert result.chunks == sum(block.chunks for block in result.blocks) > 5
    assert min(result.openbook_per_second, result.defaults_per_second, result.same_per_second) > 0


def test_a_folder_with_fewer_files_than_blocks_is_named(tmp_path, settings):
    with pytest.raises(ValueError, match="0 files, fewer than 2 blocks"):
        ingesting.measure(tmp_path, 2, settings)


def test_growth_is_measured_by_tenths_and_one_changed_file_after_it(settings):
    growth = growing.measure(100, settings)
    assert (len(growth.seconds), len(growth.resident_mib)) == (10, 10)
    assert growth.unchanged_seconds > 0
    assert growth.changed_seconds > 0


def test_a_benchmark_that_is_ended_leaves_nothing_behind(tmp_path):
    """SIGTERM is what a supervisor, a container or `timeout` sends."""
    environment = {**openbook_environment(tmp_path / "home"), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "openbook", "bench", "ingest", "--documents", "100000"]
    with subprocess.Popen(command, cwd=REPOSITORY, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: list(tmp_path.glob("openbook-bench-*/*")), 60)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 128 + signal.SIGTERM
        finally:
            process.kill()
    assert list(tmp_path.glob("openbook-bench-*")) == []
