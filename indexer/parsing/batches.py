"""Files that travel to a worker together, and what comes back of them."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator

from indexer.parsing import PLAIN
from indexer.parsing.source import Parsed, SourceFile, Unreadable

BATCH_FILES = 64
BATCH_BYTES = 1 << 18
"""Small plain files travel together, since a message each would cost more than reading them."""
WAITING_PARTS = 4
"""How many parts of a batch wait for the caller at most."""
CHECK_SECONDS = 0.2

Piece = tuple[int, list[Parsed | Unreadable], bool]
"""The position of a file in its batch, some of its documents, and whether they are the last ones."""


class Batch:
    """Files that travel together, and what was found in them so far."""

    def __init__(self, files: list[SourceFile], size: int, *, plain: bool) -> None:
        self.files = files
        self.size = size
        self.plain = plain
        self.cancelled = threading.Event()
        self._pieces: queue.Queue[list[Piece] | Exception] = queue.Queue(WAITING_PARTS)
        self._unread: deque[Piece] = deque()

    def fail(self, error: Exception) -> None:
        """Have the caller get an error instead of what is still to come."""
        self.put(error)
        self.cancelled.set()

    def put(self, part: list[Piece] | Exception) -> None:
        """Hand over a part of the results, once the caller has taken enough of those before."""
        while not self.cancelled.is_set():
            try:
                return self._pieces.put(part, timeout=CHECK_SECONDS)
            except queue.Full:
                continue

    def results(self) -> Iterator[tuple[SourceFile, Iterator[Parsed | Unreadable]]]:
        """Yield each file with its documents."""
        for file in self.files:
            documents = self._documents()
            yield file, documents
            for _ in documents:
                """What the caller did not want."""

    def _documents(self) -> Iterator[Parsed | Unreadable]:
        last = False
        while not last:
            if not self._unread:
                part = self._pieces.get()
                if isinstance(part, Exception):
                    raise part
                self._unread.extend(part)
            _, some, last = self._unread.popleft()
            yield from some


def batches_of(files: Iterable[SourceFile]) -> Iterator[Batch]:
    """Put small plain files together, and leave every other file alone."""
    group: list[SourceFile] = []
    total = 0
    for file in files:
        size = _size(file)
        plain = file.suffix in PLAIN and size <= BATCH_BYTES
        if group and (not plain or len(group) == BATCH_FILES or total + size > BATCH_BYTES):
            yield Batch(group, total, plain=True)
            group, total = [], 0
        if plain:
            group.append(file)
            total += size
        else:
            yield Batch([file], size, plain=False)
    if group:
        yield Batch(group, total, plain=True)


def _size(file: SourceFile) -> int:
    try:
        return file.size
    except OSError:
        return 0
