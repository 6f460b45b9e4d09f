from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.checkpoints import Model
from app.errors import EngineFailed
from app.serving.command import EngineOptions, core_list, vllm_command, vllm_environment
from app.serving.engine_process import describe_log, end_guarded, spawn_guarded
from app.serving.supervisor import Supervisor
from app.settings import Settings
from tests.waiting import wait_for

STUBBORN = "import signal, time; signal.signal(15, lambda *_: None); time.sleep(60)"
FAMILY = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {STUBBORN!r}], start_new_session=True)
print(child.pid, flush=True)
time.sleep(60)
"""
"""A command whose child leaves the process group and ignores SIGTERM."""


def child_of(log: Path) -> int:
    wait_for(lambda: log.exists() and log.read_text().endswith("\n"))
    return int(log.read_text())


@given(st.sets(st.integers(0, 40), min_size=1))
def test_a_core_list_names_exactly_the_cores(cores: set[int]) -> None:
    named: set[int] = set()
    for part in core_list(cores).split(","):
        first, _, last = part.partition("-")
        named |= set(range(int(first), int(last or first) + 1))
    assert named == cores


def test_core_lists_as_vllm_reads_them() -> None:
    assert core_list({0, 1, 2, 5}) == "0-2,5"


def test_on_a_cpu_every_core_and_small_blocks_are_used() -> None:
    model = Model("small@1", "/nowhere")
    command = vllm_command(model, EngineOptions(9000), on_cpu=True)
    environment = vllm_environment(model, EngineOptions(9000), True, {"OMP_NUM_THREADS": "1", "HOME": "/home/ada"})
    assert command[command.index("--block-size") + 1] == "32"
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert environment["VLLM_CPU_OMP_THREADS_BIND"] == core_list(os.sched_getaffinity(0))
    assert "OMP_NUM_THREADS" not in environment
    assert environment["VLLM_NO_USAGE_STATS"] == environment["DO_NOT_TRACK"] == "1"


@pytest.mark.parametrize(("units", "dtype"), [(True, "bfloat16"), (False, "float32")])
def test_a_cpu_without_units_for_bfloat16_is_served_in_float32(
    monkeypatch: pytest.MonkeyPatch, units: bool, dtype: str
) -> None:
    monkeypatch.setattr("app.serving.command.has_bfloat16_units", lambda: units)
    command = vllm_command(Model("small@1", "/nowhere"), EngineOptions(9000), on_cpu=True)
    assert command[command.index("--dtype") + 1] == dtype


def test_on_a_gpu_nothing_of_the_cpu_is_set() -> None:
    model = Model("owner/model", "owner/model")
    command = vllm_command(model, EngineOptions(9000, compile_model=True), on_cpu=False)
    environment = vllm_environment(model, EngineOptions(9000), False, {})
    assert not {"--block-size", "--dtype", "--enforce-eager", "--kv-cache-memory-bytes"} & set(command)
    assert not {"VLLM_CPU_OMP_THREADS_BIND", "LD_PRELOAD", "HF_HUB_OFFLINE"} & set(environment)


def test_a_model_with_a_short_context_is_served_with_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 512}')
    command = vllm_command(Model("small@1", str(tmp_path)), EngineOptions(9000), on_cpu=True)
    assert command[command.index("--max-model-len") + 1] == "512"


def test_further_arguments_come_last_so_that_they_win() -> None:
    options = EngineOptions(
        9000, extra=Settings(engine_args="--block-size 128 --speculative-config '{\"a\": 1}'").engine_args
    )
    command = vllm_command(Model("small@1", "/nowhere"), options, on_cpu=True)
    assert command[-4:] == ["--block-size", "128", "--speculative-config", '{"a": 1}']


@pytest.mark.parametrize("words", ["--host 0.0.0.0", "--port=1", "--seed 1 --api-key x"])
def test_further_arguments_cannot_open_the_engine_to_others(words: str) -> None:
    with pytest.raises(ValidationError, match="cannot be set"):
        Settings(engine_args=words)


def test_intels_openmp_is_preloaded_unless_it_is_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libiomp5.so").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    model = Model("small@1", "/nowhere")
    with_it = vllm_environment(model, EngineOptions(9000), True, {"LD_PRELOAD": "libmine.so"})
    without = vllm_environment(model, EngineOptions(9000, preload_openmp=False), True, {"LD_PRELOAD": "libmine.so"})
    assert with_it["LD_PRELOAD"] == f"{tmp_path}/lib/libiomp5.so:libmine.so"
    assert without["LD_PRELOAD"] == "libmine.so"


def test_ending_a_guarded_command_ends_all_that_it_started(tmp_path: Path) -> None:
    process = spawn_guarded([sys.executable, "-c", FAMILY], dict(os.environ), tmp_path / "log")
    child = child_of(tmp_path / "log")
    end_guarded(process)
    assert not psutil.pid_exists(child)


def test_a_guarded_command_ends_when_its_caller_is_killed(tmp_path: Path) -> None:
    caller = (
        "import os, sys, time; from pathlib import Path; from app.serving.engine_process import spawn_guarded;"
        "process = spawn_guarded([sys.executable, '-c', sys.argv[1]], dict(os.environ), Path(sys.argv[2]));"
        "print(process.pid, flush=True); time.sleep(60)"
    )
    log = tmp_path / "log"
    with subprocess.Popen([sys.executable, "-c", caller, FAMILY, str(log)], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        guard, child = int(owner.stdout.readline()), child_of(log)
        owner.send_signal(signal.SIGKILL)
    wait_for(lambda: not psutil.pid_exists(child) and not _is_alive(guard), 15)


def test_a_guarded_command_that_ends_gives_its_exit_code(tmp_path: Path) -> None:
    process = spawn_guarded([sys.executable, "-c", "raise SystemExit(7)"], dict(os.environ), tmp_path / "log")
    assert process.wait(20) == 7
    end_guarded(process)


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_log_is_told_by_its_first_error_and_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.write_text(
        "(APIServer pid=1) INFO 11-29 23:00:44 [launcher.py:195] Route: /health, Methods: GET\n"
        "(EngineCore pid=2) ERROR 11-29 23:00:45 [core.py:10] EngineCore failed to start.\n"
        "(EngineCore pid=2) Traceback (most recent call last):\n"
        '(EngineCore pid=2)   File "/x.py", line 1, in f\n'
        "(EngineCore pid=2) ValueError: No available memory for the cache blocks.\n"
        "(APIServer pid=1) RuntimeError: Engine core initialization failed.\n"
    )
    assert describe_log(log).splitlines() == [
        "The first error: ValueError: No available memory for the cache blocks.",
        "The last lines of its log:",
        "  EngineCore failed to start.",
        "  ValueError: No available memory for the cache blocks.",
        "  RuntimeError: Engine core initialization failed.",
        f"The whole log: {log}",
    ]


class Sleeper:
    """A real process that counts as ready when it runs, unless it is to fail."""

    def __init__(self, log: Path, code: str) -> None:
        self.process = spawn_guarded([sys.executable, "-c", code], dict(os.environ), log)

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def wait_until_ready(self) -> None:
        if "raise" in str(self.process.args):
            raise EngineFailed("it failed")

    def log_tail(self) -> str:
        return "its log"

    def stop(self) -> None:
        end_guarded(self.process)


class Supervised:
    """A supervisor of sleepers; the first runs the code of the first one given, and so on, the last one for ever."""

    def __init__(self, log: Path, pauses_seconds: tuple[float, ...], *codes: str) -> None:
        self.started: list[Sleeper] = []
        self.events: list[str] = []
        self._log, self._codes = log, codes
        self.supervisor = Supervisor(self._launch, pauses_seconds, poll_seconds=0.02)
        self.supervisor.start(lambda: self.events.append("ready"), lambda: self.events.append("failed"))
        wait_for(lambda: self.events)

    def _launch(self) -> Sleeper:
        code = self._codes[min(len(self.started), len(self._codes) - 1)]
        self.started.append(Sleeper(self._log, code))
        return self.started[-1]


LIVES, FAILS = "import time; time.sleep(60)", "raise SystemExit(1)"


def test_an_engine_that_dies_is_started_again_and_the_problem_goes_away(tmp_path: Path) -> None:
    engine = Supervised(tmp_path / "log", (0.3,), LIVES)
    assert engine.supervisor.problem is None
    engine.started[0].process.kill()
    wait_for(lambda: engine.supervisor.problem is not None)
    wait_for(lambda: len(engine.started) == 2 and engine.supervisor.problem is None)
    engine.supervisor.stop()
    assert not engine.started[1].is_running
    assert engine.events == ["ready"]


def test_an_engine_that_keeps_dying_is_given_up(tmp_path: Path) -> None:
    engine = Supervised(tmp_path / "log", (0.01, 0.01), LIVES, FAILS)
    engine.started[0].process.kill()
    wait_for(lambda: "not started again" in (engine.supervisor.problem or ""))
    assert len(engine.started) == 3
    engine.supervisor.stop()


def test_stopping_during_a_pause_starts_nothing_more(tmp_path: Path) -> None:
    engine = Supervised(tmp_path / "log", (60.0,), LIVES)
    engine.started[0].process.kill()
    wait_for(lambda: engine.supervisor.problem is not None)
    engine.supervisor.stop()
    assert len(engine.started) == 1


def test_a_first_start_that_fails_is_not_tried_again(tmp_path: Path) -> None:
    engine = Supervised(tmp_path / "log", (0.01,), FAILS)
    engine.supervisor.stop()
    assert engine.events == ["failed"]
    assert isinstance(engine.supervisor.failure, EngineFailed)
    assert len(engine.started) == 1
