"""Corpora from files: one loader for each format. A new format is one file and one line in `LOADERS`."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from corpus.errors import CorpusError
from corpus.loading.beir import Beir
from corpus.loading.building import Documents, Questions
from corpus.loading.csv_tables import CsvTables
from corpus.loading.fields import nearest
from corpus.loading.folder import Folder
from corpus.loading.json_lines import JsonLines
from corpus.loading.problems import Problems
from corpus.loading.squad import Squad
from corpus.schema import Corpus


class Loader(Protocol):
    """Reads one format."""

    @property
    def looks_for(self) -> str:
        """What makes a path a corpus of this format, in words."""
        ...

    def recognises(self, path: Path) -> bool:
        """Say whether the path is a corpus of this format, by its files' names alone."""
        ...

    def load(self, path: Path, problems: Problems) -> tuple[Documents, Questions]:
        """Read the corpus. What is wrong with it is noted, not raised, so that all of it is told at once."""
        ...


LOADERS: dict[str, Loader] = {
    "folder": Folder(),
    "jsonl": JsonLines(),
    "csv": CsvTables(),
    "beir": Beir(),
    "squad": Squad(),
}
"""Format to loader, in the order in which a path is tried."""


def load_corpus(path: Path | str, format: str | None = None, name: str | None = None) -> Corpus:
    """Read a corpus.

    Args:
        path: A folder, or a file where the format is one.
        format: A key of `LOADERS`; None finds it out from the files' names.
        name: The corpus's name; None takes the path's.

    Raises:
        CorpusError: The path is missing, no format fits, or the files have problems; the message names every problem
            with its file, its line and what to do.
    """
    path = Path(path)
    if not path.exists():
        raise CorpusError(f"The corpus {path} does not exist. Give the path of a folder or a file that does.")
    format = format or _recognised(path)
    if format not in LOADERS:
        hint = nearest(format, LOADERS)
        raise CorpusError(f"There is no corpus format {format!r}.{hint} Formats: {', '.join(LOADERS)}.")
    problems = Problems(path)
    documents, questions = LOADERS[format].load(path, problems)
    problems.raise_if_any()
    if not documents.by_id:
        problems.stop(path, None, "holds no document; a corpus needs at least one")
    if not questions.by_id:
        problems.stop(path, None, "holds no question with an answer; an experiment needs at least one")
    return Corpus(
        name=name or path.stem,
        documents=tuple(documents.by_id.values()),
        questions=tuple(questions.by_id.values()),
    )


def _recognised(path: Path) -> str:
    for name, loader in LOADERS.items():
        if loader.recognises(path):
            return name
    looked_for = "\n".join(f"  {name}: {loader.looks_for}" for name, loader in LOADERS.items())
    there = ", ".join(sorted(entry.name for entry in path.iterdir())[:8]) if path.is_dir() else "a single file"
    raise CorpusError(
        f"{path} is a corpus of no known format. It holds: {there or 'nothing'}. Looked for\n{looked_for}"
    )
