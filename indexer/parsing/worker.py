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
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path

from indexer.parsing import load
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.reading import out_of_memory, parse_file
from indexer.parsing.source import Parsed, SourceFile, Unreadable

PART_CHARACTERS = 1 << 20
"""A part of the results is sent at so much text …"""
PART_SECONDS = 0.2
"""… or after so long, since the parent waits only so long for each part."""
SIZE, RESIDENT = 0, 1
"""Fields of /proc/self/statm."""
PR_SET_PDEATHSIG = 1
RESERVE_BYTES = 4 << 20
RESERVE = bytearray(RESERVE_BYTES)
"""Let go of where memory is short, so that there is enough to say so."""
READY = "ready"

Part = list[tuple[int, list[Parsed | Unreadable], bool]]
"""For files by their position among those sent: some of the documents, and whether they are the last ones."""


def main(arguments: Sequence[str]) -> None:
    """Serve until the other end closes the socket."""
    end_with_parent(int(arguments[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        # If memory runs out, it is the file that takes it which has to go, not the ingest.
        Path("/proc/self/oom_score_adj").write_text("1000")
    # openpyxl does without, and NumPy takes memory for a thread of every core as soon as it is loaded.
    sys.modules["numpy"] = None  # type: ignore[assignment]
    connection = Connection(int(arguments[0]))
    with contextlib.suppress(EOFError, OSError):
        limits: ParsingLimits = connection.recv()
        connection.send(READY)
        _silence()
        while True:
            for part in _parts(connection.recv(), limits):
                connection.send(part)
            connection.send(_memory_bytes(RESIDENT))


def _parts(files: Sequence[SourceFile], limits: ParsingLimits) -> Iterator[Part]:
    """Read files one after the other and yield their documents in parts that are not too long in coming."""
    part: Part = []
    characters, since = 0, time.monotonic()
    for position, file in enumerate(files):
        some: list[Parsed | Unreadable] = []
        for one in _within_memory(file, limits):
            some.append(one)
            characters += len(one.document.text) if isinstance(one, Parsed) else len(one.reason)
            if characters >= PART_CHARACTERS or time.monotonic() - since > PART_SECONDS:
                yield [*part, (position, some, False)]
                part, some = [], []
                characters, since = 0, time.monotonic()
        part.append((position, some, True))
    yield part


def _within_memory(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed | Unreadable]:
    """Yield the documents of a file while reading them stays within the limit of memory.

    The limit holds while the file is read, and not while what was read is sent.
    """
    # What a library takes is not held against the file that needs it first.
    with contextlib.suppress(ImportError):
        load(file.suffix)
    documents = parse_file(file, limits)
    while True:
        try:
            _allow_memory(limits.memory_bytes)
            one = next(documents, None)
        except MemoryError:
            RESERVE.clear()
            _allow_memory(None)
            RESERVE.extend(bytes(RESERVE_BYTES))
            one, documents = Unreadable(out_of_memory(limits), 0), iter(())
        _allow_memory(None)
        if one is None:
            return
        yield one


def _allow_memory(more: int | None) -> None:
    """Let this process grow by `more` bytes from here on; None lets it grow, as sending what was read has it do."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = hard
    if more is not None and (size := _memory_bytes(SIZE)):
        limit = size + more if hard == resource.RLIM_INFINITY else min(size + more, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _memory_bytes(field: int) -> int:
    """Return the size of this process, or how much of it is resident; 0 where the system does not say."""
    if (file := _statm()) is None:
        return 0
    return int(os.pread(file, 256, 0).split()[field]) * resource.getpagesize()


@cache
def _statm() -> int | None:
    """Open once what the system says of the memory of this process, since it is read with every document."""
    try:
        return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _silence() -> None:
    """Keep what libraries print out of the terminal: what matters comes as a result."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
    os.close(nowhere)


def end_with_parent(parent: int) -> None:
    """Have the system kill this process when its parent dies, even in the middle of a parser's endless loop."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit()


if __name__ == "__main__":
    main(sys.argv[1:])
