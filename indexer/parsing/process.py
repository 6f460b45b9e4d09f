"""A worker process as its parent sees it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from multiprocessing import Pipe
from pathlib import Path

from corpus.errors import OpenbookError
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import SourceFile
from indexer.parsing.worker import READY, Part

ROOT = Path(__file__).parents[2]
START_SECONDS = 60.0
END_SECONDS = 10.0


class WorkerEnded(Exception):
    """The worker died or was killed over a file; the message is the reason for that file."""


class WorkerProcess:
    """A process that reads files."""

    def __init__(self, limits: ParsingLimits) -> None:
        """Start it.

        Raises:
            OpenbookError: it cannot be started.
        """
        self._limits = limits
        self._connection, theirs = Pipe()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *_python_path()])}
        with theirs, tempfile.TemporaryFile() as errors:
            # Not `multiprocessing`: it would run the main module again, whatever that does.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "indexer.parsing.worker", str(theirs.fileno()), str(os.getpid())],
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
            theirs.close()
            try:
                self._connection.send(limits)
                started = self._connection.poll(START_SECONDS) and self._connection.recv() == READY
            except (EOFError, OSError):
                started = False
            if not started:
                self.close()
                errors.seek(0)
                said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
                raise OpenbookError(f"A process to read files cannot be started: {said or 'it ended at once'}.")
        self._first_size: int | None = None
        self._size = self._files = 0

    def parse(self, files: Sequence[SourceFile], *, plain: bool) -> Iterator[Part]:
        """Yield the documents of files, part by part.

        Raises:
            WorkerEnded: the process died, or took too long over a part.
        """
        self._files += 0 if plain else len(files)
        try:
            self._connection.send(files)
            while not isinstance(message := self._next(), int):
                yield message
        except (EOFError, OSError) as error:
            raise WorkerEnded(self._why()) from error
        self._size = message
        self._first_size = self._first_size or message

    @property
    def worn(self) -> bool:
        """Whether it should be replaced: it has read many files, or has grown."""
        grown = self._size - (self._first_size or self._size)
        return self._files >= self._limits.files_per_worker or grown > self._limits.worker_growth_bytes

    def kill(self) -> None:
        """Kill the process, so that whoever waits for it stops to."""
        self._process.kill()

    def close(self) -> None:
        """End the process and let go of it."""
        self.kill()
        self._process.wait()
        self._connection.close()

    def _next(self) -> Part | int:
        if not self._connection.poll(self._limits.seconds):
            raise WorkerEnded(f"takes longer than {self._limits.seconds:g} s to read (OPENBOOK_PARSER_SECONDS)")
        message: Part | int = self._connection.recv()
        return message

    def _why(self) -> str:
        """Return what ended the process."""
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            return "the parser's process closed its connection"
        if code == -signal.SIGKILL:
            return "the parser's process was killed (is there too little memory?)"
        return f"the parser crashed ({signal.Signals(-code).name if code < 0 else f'exit code {code}'})"


def _python_path() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
