"""The folder of a run: every artefact under its name, written so that a run can be killed at any moment.

run.json                    RunState: what scoring needs besides the answers
spec.json                   the specification as it was read
corpora/<name>/*.jsonl      documents and questions of `main`, `other` and `panel`
store/                      the index
training/                   rows.jsonl and job.json
answers.jsonl               one AnswerRecord a line, appended
scores.jsonl, results.json, report.html, report.md
logs/                       what the commands said
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, Field, ValidationError

from app.schemas.checkpoint import CheckpointCard
from app.schemas.schema import Schema
from corpus.schema import Corpus, Document, Question
from experiments.errors import RunDamaged, RunLocked
from experiments.spec import Spec

Line = TypeVar("Line", bound=BaseModel)


class RunState(Schema):
    """What a run has learnt besides its answers. The clock is read here and nowhere later."""

    command: str
    """The command that reproduces the run."""
    environment: dict[str, str]
    base: str | None = None
    """Label of the base checkpoint that was served."""
    indexing_seconds: dict[str, float] = Field(default_factory=dict)
    """Collection to the time its indexing took; a collection that is here is indexed."""
    index_hash: str | None = None
    """`documents_hash` of the collection `main`, from the server's own list of documents."""
    finetuned: CheckpointCard | None = None
    """The card of the fine-tuned checkpoint."""
    asking_seconds: dict[str, float] = Field(default_factory=dict)
    """Arm to the machine's time for its test questions, over all sittings."""
    last_answer: str | None = None
    """ISO 8601, UTC."""


class RunFolder:
    """One run's folder."""

    def __init__(self, path: Path) -> None:
        """Name the folder; it need not exist."""
        self.path = path
        self.store = path / "store"
        self.answers = path / "answers.jsonl"
        self.scores = path / "scores.jsonl"
        self.results = path / "results.json"
        self.training = path / "training"
        self._state = path / "run.json"
        self._spec = path / "spec.json"

    def log(self, name: str) -> Path:
        """Return the path of a log."""
        return self.path / "logs" / f"{name}.log"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out while the context lasts.

        Raises:
            RunLocked: One is at work.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path.parent / f".{self.path.name}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise RunLocked(f"Another process is working on the run {self.path}. Wait for it, or stop it.") from None
        try:
            yield
        finally:
            lock.release()

    def read_state(self) -> RunState | None:
        """Return the state; None where the run has not begun."""
        return _read(self._state, RunState) if self._state.exists() else None

    def write_state(self, state: RunState) -> None:
        """Replace the state."""
        replace(self._state, state.model_dump_json(indent=2))

    def read_spec(self) -> Spec:
        """Return the specification of the run."""
        return _read(self._spec, Spec)

    def write_spec(self, spec: Spec) -> None:
        """Replace the specification."""
        replace(self._spec, spec.model_dump_json(indent=2))

    def documents(self, corpus: str) -> Path:
        """Return the file of a corpus's documents."""
        return self.path / "corpora" / corpus / "documents.jsonl"

    def write_corpus(self, name: str, corpus: Corpus) -> None:
        """Keep the documents and questions that the run uses."""
        replace(self.documents(name), _lines(corpus.documents))
        replace(self.documents(name).with_name("questions.jsonl"), _lines(corpus.questions))

    def read_corpus(self, name: str) -> Corpus:
        """Return a corpus as the run uses it."""
        documents = read_lines(self.documents(name), Document)
        questions = read_lines(self.documents(name).with_name("questions.jsonl"), Question)
        return Corpus(name=name, documents=tuple(documents), questions=tuple(questions))


def read_lines(path: Path, model: type[Line]) -> list[Line]:
    """Read a JSONL file of records.

    Raises:
        RunDamaged: It is missing, or a line is no such record.
    """
    try:
        # Not splitlines(): it would break a line at U+2028, which JSON allows inside a string.
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise RunDamaged(f"{path} cannot be read: {error}. `--fresh` begins the run anew.") from error
    return [_parse(model, line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line]


def write_lines(path: Path, records: Iterable[BaseModel]) -> None:
    """Replace a JSONL file."""
    replace(path, _lines(records))


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    os.replace(part, path)


def _lines(records: Iterable[BaseModel]) -> str:
    return "".join(f"{record.model_dump_json()}\n" for record in records)


def _read(path: Path, model: type[Line]) -> Line:
    try:
        return _parse(model, path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise RunDamaged(f"{path} cannot be read: {error}. `--fresh` begins the run anew.") from error


def _parse(model: type[Line], text: str, where: str) -> Line:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise RunDamaged(
            f"{where} is no {model.__name__}: {field} {first['msg']}. `--fresh` begins the run anew."
        ) from error
