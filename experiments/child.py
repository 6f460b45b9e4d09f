"""Becomes another command that ends when its parent does: `python -m experiments.child PARENT_PID COMMAND…`.

A run that is killed outright can tell its children nothing. On Linux the kernel can: the command gets SIGTERM as soon
as the process that started it is gone, and ends its own children in turn (prctl(2), PR_SET_PDEATHSIG, survives exec).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ask for the signal, then execute the command."""
    parent, *command = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit("The run that wanted this command is gone.")
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
