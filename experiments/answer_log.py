"""`answers.jsonl` while a run goes on: appended line by line, and taken up again after any kind of end."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from experiments.records import AnswerRecord, QuestionSet
from experiments.run_folder import read_lines

Pair = tuple[QuestionSet, str, str]
"""Question set, arm and question id: what is asked once."""


class AnswerLog:
    """The answers of a run, on disk as soon as they are there."""

    def __init__(self, path: Path) -> None:
        """Take up the file; a last line that a kill tore is dropped.

        Raises:
            RunDamaged: A line before the last is no AnswerRecord.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        _drop_torn_line(path)
        self.done: set[Pair] = {pair_of(record) for record in read_lines(path, AnswerRecord)}
        self._file: BinaryIO = path.open("ab")

    def __enter__(self) -> AnswerLog:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._file.close()

    def append(self, record: AnswerRecord) -> None:
        """Write one record through to the operating system."""
        self._file.write(record.model_dump_json().encode() + b"\n")
        self._file.flush()
        self.done.add(pair_of(record))


def pair_of(record: AnswerRecord) -> Pair:
    """Return what the record answers."""
    return (record.set, record.arm, record.question_id)


def _drop_torn_line(path: Path) -> None:
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        os.truncate(path, content.rfind(b"\n") + 1)
