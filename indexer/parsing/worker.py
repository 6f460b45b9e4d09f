"""The worker process: reads files that are sent to it, and sends back their documents in parts.

It is started as `python -m indexer.parsing.worker FD PARENT`, talks over the socket `FD`, and ends with it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from indexer.parsing.limits import ParsingLimits
from indexer.parsing.reading import parse_file
from indexer.parsing.source import Parsed, SourceFile, Unreadable

PART_CHARACTERS = 1 << 20
"""A part of the results is sent at so much text …"""
PART_SECONDS = 0.2
"""… or after so long, since the parent waits only so long for each part."""
PR_SET_PDEATHSIG = 1
READY = "ready"

Part = list[tuple[int, list[Parsed | Unreadable], bool]]
"""For files by their position among those sent: some of the documents, and whether they are the last ones."""


def main(arguments: Sequence[str]) -> None:
    """Serve until the other end closes the socket."""
    _end_with_parent(int(arguments[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        # If memory runs out, it is the file that takes it which has to go, not the ingest.
        Path("/proc/self/oom_score_adj").write_text("1000")
    connection = Connection(int(arguments[0]))
    with contextlib.suppress(EOFError, OSError):
        limits: ParsingLimits = connection.recv()
        connection.send(READY)
        _silence()
        while True:
            for part in _parts(connection.recv(), limits):
                connection.send(part)
            connection.send(resident_bytes())


def _parts(files: Sequence[SourceFile], limits: ParsingLimits) -> Iterator[Part]:
    """Read files one after the other and yield their documents in parts that are not too long in coming."""
    part: Part = []
    characters, since = 0, time.monotonic()
    for position, file in enumerate(files):
        some: list[Parsed | Unreadable] = []
        _allow_memory(limits.memory_bytes)
        for one in parse_file(file, limits):
            some.append(one)
            characters += len(one.document.text) if isinstance(one, Parsed) else len(one.reason)
            if characters >= PART_CHARACTERS or time.monotonic() - since > PART_SECONDS:
                yield [*part, (position, some, False)]
                part, some = [], []
                characters, since = 0, time.monotonic()
        part.append((position, some, True))
    yield part


def _allow_memory(more: int) -> None:
    """Let this process grow by `more` bytes from here on."""
    try:
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = size + more if hard == resource.RLIM_INFINITY else min(size + more, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def resident_bytes() -> int:
    """Return how much memory this process holds; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _silence() -> None:
    """Keep what libraries print out of the terminal: what matters comes as a result."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
    os.close(nowhere)


def _end_with_parent(parent: int) -> None:
    """Have the system kill this process when its parent dies, even in the middle of a parser's endless loop."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit()


if __name__ == "__main__":
    main(sys.argv[1:])
