"""Child processes of a run: started, watched and, whatever happens, ended.

Each lives in a session of its own, so that Ctrl-C reaches the run alone, which then ends its children in order.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO

from experiments.errors import StageFailed
from terminal import duration, note, waiting

GRACE_SECONDS = 30.0
"""How long a child may take to end by itself after SIGTERM."""
LINES_SHOWN = 20


@contextmanager
def child_process(
    command: Sequence[str],
    output: int | IO[bytes],
    errors: int | IO[bytes],
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a Python module as a child (`command` is what follows `python -m`) and end it on the way out.

    The child has the parent's environment with `environment` above it.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments.child", str(os.getpid()), sys.executable, "-m", *command],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process)


def run_to_end(command: Sequence[str], log: Path, what: str) -> None:
    """Run a Python module, show and log what it says on stderr, and wait for it.

    Raises:
        StageFailed: It ended with an error; the message holds its last lines.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file, child_process(command, file, subprocess.PIPE) as process:
        assert process.stderr is not None
        for line in process.stderr:
            file.write(line)
            file.flush()
            note(f"  {line.decode(errors='replace').rstrip()}")
        code = process.wait()
    if code != 0:
        raise StageFailed(f"{what} failed with exit code {code}.\n{last_lines(log)}")


def last_lines(log: Path) -> str:
    """Return the end of a log and its path, for an error message."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    shown = "\n".join(f"  {line}" for line in text.rstrip().splitlines()[-LINES_SHOWN:])
    return f"The last lines of {log}:\n{shown}"


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            with waiting("Stopping", GRACE_SECONDS):
                process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            note(f"It did not stop within {duration(GRACE_SECONDS)}; killing it.")
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.stderr is not None:
        process.stderr.close()
