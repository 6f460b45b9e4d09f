"""Runs one command and sees to it that no process of it outlives whoever asked for it.

    python -m app.serving.guard COMMAND…

The caller keeps the write end of this process's standard input. When that closes, because the caller ended in any way,
SIGKILL included, or on SIGTERM, the command and all its descendants get SIGTERM, and SIGKILL a few seconds later.
vLLM is a tree of processes, some of which outlive their parent; being the subreaper of the tree (prctl(2)) keeps every
orphan a descendant of this process. Standard library and psutil only: it starts in a blink.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys

import psutil

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE_SECONDS = 5.0
POLL_SECONDS = 0.1


def main() -> int:
    """Run the command of `sys.argv` and return its exit code."""
    signals: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: signals.append(number))
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    command = subprocess.Popen(
        sys.argv[1:],
        stdin=subprocess.DEVNULL,
        # If this process itself is killed outright, the command still goes.
        preexec_fn=lambda: _prctl(PR_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509 - there are no threads here
    )
    while command.poll() is None and not signals and not _caller_has_gone():
        pass
    end_descendants(psutil.Process(), GRACE_SECONDS)
    code = command.wait()
    _reap_orphans()
    return code


def end_descendants(process: psutil.Process, grace_seconds: float) -> None:
    """End every descendant of `process`: SIGTERM, and SIGKILL for those that are still there after the grace."""
    children = process.children(recursive=True)
    for child in children:
        _send(child, signal.SIGTERM)
    psutil.wait_procs(children, timeout=grace_seconds)
    for child in process.children(recursive=True):
        _send(child, signal.SIGKILL)


def _reap_orphans() -> None:
    """Collect the exit status of adopted processes, so that no zombie is left where PID 1 reaps none."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _send(process: psutil.Process, number: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def _caller_has_gone() -> bool:
    """Wait a moment for the end of standard input, and say whether it came."""
    readable, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS)
    return bool(readable) and os.read(sys.stdin.fileno(), 1) == b""


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
