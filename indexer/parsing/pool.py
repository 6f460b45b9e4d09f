"""Files read in worker processes, whatever is in them: one that hangs, crashes or bursts is reported and no other."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from types import TracebackType

from corpus.errors import OpenbookError
from indexer.parsing.batches import Batch, batches_of
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.process import WorkerEnded, WorkerProcess
from indexer.parsing.source import Parsed, SourceFile, Unreadable

AHEAD_BATCHES = 4
"""How many batches per worker are read ahead of the caller …"""
AHEAD_BYTES = 1 << 25
"""… as long as their files have no more bytes than this together."""


class ParserPool:
    """Worker processes that read files.

    Each worker is served by a thread of its own, so that parsing goes on while the caller is busy with what came
    before. A pool serves one caller at a time.
    """

    def __init__(self, settings: ParsingLimits | None = None, workers: int = 1) -> None:
        """Keep up to `workers` processes; the first one is started at once, the others when there is work for them."""
        self._limits = settings or ParsingLimits()
        self._tasks: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
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
        batches = batches_of(files)
        ahead: deque[Batch] = deque()
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

    def _fill(self, ahead: deque[Batch], batches: Iterator[Batch]) -> None:
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
                try:
                    worker.serve(batch)
                except Exception as error:
                    # The caller waits for it: it must hear of this, whatever it is.
                    batch.fail(error)
        finally:
            worker.close()


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

    def serve(self, batch: Batch) -> None:
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

    def _ask(self, batch: Batch, files: list[SourceFile], first: int) -> tuple[int, bool, str]:
        """Have files read.

        Returns:
            How many were read to their end, whether documents of the next one were handed over, and what ended the
            process, if anything did.
        """
        finished, begun = 0, False
        self.prepare()
        if self._process is None:
            assert self._failure is not None
            batch.fail(self._failure)
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
