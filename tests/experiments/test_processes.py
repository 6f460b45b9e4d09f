"""Child processes: their output is kept, and none outlives the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from experiments.commands import OpenbookCommands
from experiments.errors import ServerFailed, StageFailed
from experiments.processes import child_process, last_lines, run_to_end

HOLDER = """\
import subprocess, sys
from experiments.processes import child_process
with child_process(["http.server", "0", "--bind", "127.0.0.1"], subprocess.DEVNULL, subprocess.DEVNULL) as process:
    print(process.pid, flush=True)
    process.wait()
"""


def gone(pid: int, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


def test_what_a_command_says_is_shown_and_logged(tmp_path, capfd):
    run_to_end(["json.tool", "--help"], tmp_path / "logs" / "a.log", "Helping")
    assert "usage" in (tmp_path / "logs" / "a.log").read_text()


def test_a_command_that_fails_is_named_with_its_last_lines_and_its_log(tmp_path, capfd):
    log = tmp_path / "a.log"
    with pytest.raises(StageFailed) as caught:
        run_to_end(["no_such_module_here"], log, "Ingesting x")
    assert str(caught.value).startswith("Ingesting x failed with exit code 1.")
    assert "No module named no_such_module_here" in str(caught.value)
    assert str(log) in str(caught.value)
    assert "No module named" in capfd.readouterr().err


def test_a_child_ends_with_its_context():
    command = ["http.server", "0", "--bind", "127.0.0.1"]
    with (
        pytest.raises(KeyboardInterrupt),
        child_process(command, subprocess.DEVNULL, subprocess.DEVNULL) as process,
    ):
        raise KeyboardInterrupt
    assert process.poll() is not None


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's signal is Linux's own")
def test_a_child_ends_when_its_run_is_killed_outright():
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    child = int(holder.stdout.readline())
    assert psutil.pid_exists(child)
    time.sleep(0.5)
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert gone(child)


def test_a_log_that_is_not_there_has_no_last_lines(tmp_path):
    assert str(tmp_path / "none.log") in last_lines(tmp_path / "none.log")


def test_a_server_that_cannot_start_says_why_and_where_its_log_is(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("OPENBOOK_HOME", str(tmp_path))
    commands = OpenbookCommands(engine_url="http://127.0.0.1:9")
    with (
        pytest.raises(ServerFailed, match=r"ended while it started \(exit code [1-9](.|\n)*serve\.log") as caught,
        commands.serve(None, tmp_path / "store", None, tmp_path / "serve.log"),
    ):
        pass
    assert "127.0.0.1:9" in str(caught.value)
    assert caught.value.exit_code == 5
