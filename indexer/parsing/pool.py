"""Files read in worker processes, whatever is in them: one that hangs, crashes or bursts is reported and no other."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from types import TracebackType

from corpus.errors import OpenbookError
from indexer.parsing import PLAIN
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.process import WorkerEnded, WorkerProcess
from indexer.parsing.source import Parsed, SourceFile, Unreadable

BATCH_FILES = 64
BATCH_BYTES = 1 << 18
"""Small plain files travel together, since a message each would cost more than reading them."""
AHEAD_BATCHES = 4
"""How many batches per worker are read ahead of the caller …"""
AHEAD_BYTES = 1 << 25
"""… as long as their files have no more bytes than this together."""
WAITING_PARTS = 4
"""How many parts of a batch wait for the caller at most."""
CHECK_SECONDS = 0.2

Piece = tuple[int, list[Parsed | Unreadable], bool]
"""The position of a file in its batch, some of its documents, and whether they are the last ones."""


class ParserPool:
    """Worker processes that read files.

    Each worker is served by a thread of its own, so that parsing goes on while the caller is busy with what came
    before. A pool serves one caller at a time.
    """

    def __init__(self, settings: ParsingLimits | None = None, workers: int = 1) -> None:
        """Keep up to `workers` processes; the first one is started at once, the others when there is work for them."""
        self._limits = settings or ParsingLimits()
        self._tasks: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._workers = [_Worker(self._limits) for _ in range(workers)]
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> ParserPool:
        self._start_worker()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers, whatever they are busy with."""
        for worker, _ in zip(self._workers, self._threads, strict=False):
            self._tasks.put(None)
            worker.stop()
        for thread in self._threads:
            thread.join()

    def parse(self, files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, Iterator[Parsed | Unreadable]]]:
        """Yield each file in the order given with what is in it, which is to be taken before the next file is.

        `files` is read in the caller's thread, some way ahead.

        Raises:
            OpenbookError: no worker can be started.
        """
        batches = _batches(files)
        ahead: deque[_Batch] = deque()
        try:
            while True:
                self._fill(ahead, batches)
                if not ahead:
                    return
                yield from ahead[0].results()
                ahead.popleft()
        finally:
            for batch in ahead:
                batch.cancelled.set()

    def _fill(self, ahead: deque[_Batch], batches: Iterator[_Batch]) -> None:
        """Give the workers as much to do as may be read ahead."""
        while len(ahead) < AHEAD_BATCHES * len(self._workers) and sum(batch.size for batch in ahead) < AHEAD_BYTES:
            batch = next(batches, None)
            if batch is None:
                return
            ahead.append(batch)
            if len(self._threads) < min(len(ahead), len(self._workers)):
                self._start_worker()
            self._tasks.put(batch)

    def _start_worker(self) -> None:
        worker = self._workers[len(self._threads)]
        # The process belongs to the thread that starts it: the system ends it with that thread.
        thread = threading.Thread(target=self._serve, args=(worker,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self, worker: _Worker) -> None:
        """Keep one worker busy, until there is nothing more to do."""
        try:
            worker.prepare()
            while (batch := self._tasks.get()) is not None:
                worker.serve(batch)
        finally:
            worker.close()


class _Batch:
    """Files that travel together, and what was found in them so far."""

    def __init__(self, files: list[SourceFile], size: int, *, plain: bool) -> None:
        self.files = files
        self.size = size
        self.plain = plain
        self.cancelled = threading.Event()
        self._pieces: queue.Queue[list[Piece] | OpenbookError] = queue.Queue(WAITING_PARTS)
        self._unread: deque[Piece] = deque()

    def put(self, part: list[Piece] | OpenbookError) -> None:
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
                if isinstance(part, OpenbookError):
                    raise part
                self._unread.extend(part)
            _, some, last = self._unread.popleft()
            yield from some


class _Worker:
    """A worker process that is replaced when it dies, hangs or is worn."""

    def __init__(self, limits: ParsingLimits) -> None:
        self._limits = limits
        self._process: WorkerProcess | None = None
        self._failure: OpenbookError | None = None
        self._stopped = False

    def prepare(self) -> None:
        """Have a process ready, if one can be started."""
        if self._process is None:
            try:
                self._process = WorkerProcess(self._limits)
            except OpenbookError as error:
                self._failure = error

    def stop(self) -> None:
        """End what it is doing, from another thread; it does nothing more."""
        self._stopped = True
        if process := self._process:
            process.kill()

    def serve(self, batch: _Batch) -> None:
        """Read the files of a batch, in their order."""
        done = 0
        together = True
        while done < len(batch.files) and not (batch.cancelled.is_set() or self._stopped):
            # After a death each file goes alone: the one that causes it is then known.
            ask = batch.files[done:] if together else batch.files[done : done + 1]
            finished, begun, reason = self._ask(batch, ask, done)
            done += finished
            if reason and (begun or len(ask) == 1):
                batch.put([(done, [Unreadable(reason, 0)], True)])
                done += 1
            together = together and not reason

    def _ask(self, batch: _Batch, files: list[SourceFile], first: int) -> tuple[int, bool, str]:
        """Have files read.

        Returns:
            How many were read to their end, whether documents of the next one were handed over, and what ended the
            process, if anything did.
        """
        finished, begun = 0, False
        self.prepare()
        if self._process is None:
            assert self._failure is not None
            batch.put(self._failure)
            batch.cancelled.set()
            return 0, False, ""
        try:
            for part in self._process.parse(files, plain=batch.plain):
                batch.put([(first + position, some, last) for position, some, last in part])
                for _, _, last in part:
                    finished, begun = finished + last, not last
        except WorkerEnded as error:
            self.close()
            return finished, begun, str(error)
        if self._process.worn or batch.cancelled.is_set():
            self.close()
        return finished, begun, ""

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.close()
            self._process = None


def _batches(files: Iterable[SourceFile]) -> Iterator[_Batch]:
    """Put small plain files together, and leave every other file alone."""
    group: list[SourceFile] = []
    total = 0
    for file in files:
        size = _size(file)
        plain = file.suffix in PLAIN and size <= BATCH_BYTES
        if group and (not plain or len(group) == BATCH_FILES or total + size > BATCH_BYTES):
            yield _Batch(group, total, plain=True)
            group, total = [], 0
        if plain:
            group.append(file)
            total += size
        else:
            yield _Batch([file], size, plain=False)
    if group:
        yield _Batch(group, total, plain=True)


def _size(file: SourceFile) -> int:
    try:
        return file.size
    except OSError:
        return 0
