"""The files of a folder: which are documents, and why the others are not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import UsageError
from indexer.parsing import PARSERS
from indexer.parsing.source import SourceFile

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
QUESTIONS = "questions.jsonl"
"""Beside documents this file holds the questions of a corpus (see `corpus/`), whose lines are no documents."""


@dataclass(frozen=True)
class SkippedFile:
    """A file that is passed over."""

    path: Path
    reason: str


def walk(root: Path) -> Iterator[SourceFile | SkippedFile]:
    """Yield what lies under `root`, a folder or one file, in the order of names.

    Hidden files and folders are passed over without a word; symbolic links are not followed.

    Raises:
        UsageError: there is no `root`, or it cannot be listed.
    """
    if not root.exists():
        raise UsageError(f"There is no file or folder {str(root)!r}.")
    if root.is_dir():
        yield from _walk_folder(root, "")
    else:
        yield _judged(root, root.name)


def _walk_folder(folder: Path, prefix: str) -> Iterator[SourceFile | SkippedFile]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if not prefix:
            raise UsageError(f"The folder {str(folder)!r} cannot be listed: {error.strerror}.") from error
        yield SkippedFile(folder, f"a folder that cannot be listed: {error.strerror}")
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
            continue
        path = Path(entry.path)
        if entry.is_symlink():
            yield SkippedFile(path, "a symbolic link")
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk_folder(path, f"{prefix}{entry.name}/")
        elif entry.name == QUESTIONS:
            yield SkippedFile(path, "the questions of a corpus")
        else:
            yield _judged(path, f"{prefix}{entry.name}")


def _judged(path: Path, document_id: str) -> SourceFile | SkippedFile:
    suffix = path.suffix.lower()
    if not path.is_file():
        return SkippedFile(path, "no regular file")
    if suffix not in PARSERS:
        return SkippedFile(path, f"{suffix} files are not read" if suffix else "no suffix that says its format")
    if not document_id.isprintable():
        return SkippedFile(path, "a name with characters that cannot be printed")
    return SourceFile(path, document_id)
