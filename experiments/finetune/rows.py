"""The file of training rows: one TrainingRow in a line of JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from app.schemas.prompt import Message
from experiments.finetune.errors import JobError
from experiments.finetune.job import TrainingRow, describe

ClosedBookPrompt = Callable[[str], Sequence[Message]]
"""Turns a question into the messages that the app sends to the engine when no passages are wanted."""


def write_rows(path: Path, rows: Iterable[TrainingRow]) -> str:
    """Write the rows and return the SHA-256 of the file: the `training_hash` of a job."""
    content = "".join(f"{row.model_dump_json()}\n" for row in rows).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def read_rows(path: Path, training_hash: str) -> tuple[TrainingRow, ...]:
    """Read the rows that a job names.

    Raises:
        JobError: The file is missing, empty, malformed (the line is named) or no longer the one that was planned.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise JobError(f"Cannot read the training rows {path}: {error.strerror}.") from error
    rows = tuple(_row(path, number, line) for number, line in enumerate(content.splitlines(), 1) if line.strip())
    if not rows:
        raise JobError(f"{path} holds no training rows. Does the corpus have questions of the split 'train'?")
    if hashlib.sha256(content).hexdigest() != training_hash:
        raise JobError(f"{path} is not the file that the job was planned for: its hash is another. Plan the job again.")
    return rows


def _row(path: Path, number: int, line: bytes) -> TrainingRow:
    try:
        return TrainingRow.model_validate_json(line)
    except ValidationError as error:
        raise JobError(f"{path}:{number}: {describe(error)}") from error
