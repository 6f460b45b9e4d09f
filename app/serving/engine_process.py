"""A server process on loopback, such as vLLM: started, waited for, and ended with everything that it started.

The process writes to a log file of its own. Where it dies at start, the error shows the log's last lines.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from app.checkpoints import Model
from app.errors import EngineFailed
from app.serving.command import EngineOptions, runs_on_cpu, vllm_command, vllm_environment

LOG_LINES_SHOWN = 12
SECONDS_TO_START = 900.0
"""After this the start has failed: large models on slow disks need minutes, none needs more."""
PREFIX = re.compile(r"^\(\w+ pid=\d+\) (?:[A-Z]+ \S+ \S+ \[\S+\] ?)?")
NOISE = re.compile(r"^\s|^$|^Traceback|Route: /|resource_tracker|\[shutdown\]")
"""Lines that tell a person nothing: source lines of a traceback, routes, and the end of what was well."""
CAUSE = re.compile(r"^\w+(?:\.\w+)*(?:Error|Exception)(?:: .*)?$")


class ServerProcess:
    """A process that answers over HTTP. `stop` may be called from any thread, also while another one waits."""

    def __init__(self, name: str, command: Sequence[str], environment: dict[str, str], url: str, log: Path) -> None:
        """Start the process; it serves once `wait_until_ready` has returned.

        Args:
            name: What it is, for messages.
            command: How it is started.
            environment: Its environment variables.
            url: Where it will answer.
            log: The file that it prints into.
        """
        self._name = name
        self._url = url
        self._log = log
        self._process = spawn_guarded(command, environment, log)
        self._stopped = threading.Event()

    @property
    def is_running(self) -> bool:
        """Whether the process is there, which does not say that it answers."""
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Return when it answers.

        Raises:
            EngineFailed: It ended before, or did not answer within `SECONDS_TO_START`.
        """
        deadline = time.monotonic() + SECONDS_TO_START
        while not answers(self._url):
            if not self.is_running and not self._stopped.is_set():
                code = self._process.returncode
                raise EngineFailed(f"{self._name} ended while it started (exit code {code}). {self.log_tail()}")
            if self._stopped.is_set() or time.monotonic() > deadline:
                raise EngineFailed(f"{self._name} did not come up. {self.log_tail()}")
            self._stopped.wait(0.25)

    def log_tail(self) -> str:
        """Return what a person needs from the log: the errors it names, its last lines, and its path."""
        return describe_log(self._log)

    def stop(self) -> None:
        """End the process and all that it started; returns when they are gone."""
        self._stopped.set()
        end_guarded(self._process)


def engine_process(model: Model, options: EngineOptions, log: Path) -> ServerProcess:
    """Start vLLM with a model."""
    on_cpu = runs_on_cpu()
    command = vllm_command(model, options, on_cpu)
    environment = vllm_environment(model, options, on_cpu, os.environ)
    return ServerProcess(f"vLLM with {model.label}", command, environment, options.url, log)


def answers(url: str) -> bool:
    """Say whether the server at `url` is up."""
    try:
        return httpx.get(f"{url}/health", timeout=5.0, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def free_port() -> int:
    """Return a loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def spawn_guarded(command: Sequence[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    """Start a command under the guard, in a process group of its own, printing into `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "app.serving.guard", *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )


def end_guarded(process: subprocess.Popen[bytes]) -> None:
    """End a guarded command by closing the pipe that its guard watches."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    process.wait()


def describe_log(log: Path) -> str:
    """Return the first error that a log names, its last telling lines, and its path, in a form fit for a message."""
    lines = [PREFIX.sub("", line) for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    cause = next((line.strip() for line in lines if CAUSE.match(line)), None)
    shown = [line[:300] for line in lines if not NOISE.search(line)][-LOG_LINES_SHOWN:]
    parts = [f"The first error: {cause[:300]}"] if cause else []
    return "\n".join([*parts, "The last lines of its log:", *(f"  {line}" for line in shown), f"The whole log: {log}"])
