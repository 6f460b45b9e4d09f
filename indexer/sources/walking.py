"""The files of a folder: which are documents, and why the others are not."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from corpus.errors import UsageError
from indexer.parsing import PARSERS
from indexer.parsing.source import SourceFile

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
QUESTIONS = "questions.jsonl"
"""Beside documents this file holds the questions of a corpus (see `corpus/`), whose lines are no documents."""


@dataclass(frozen=True)
class SkippedFile:
    """A file that is passed over."""

    path: str
    reason: str
    failed: bool = False
    """Whether it was asked for by itself, so that passing it over is a failure."""


@dataclass(frozen=True)
class FoundFile:
    """A file that is a document, or holds some."""

    path: str
    """As it was named or found, with `/`: what the index calls its source."""
    id: str
    """Its path below the folder that was named, with `/`."""
    size: int
    mtime_ns: int
    content: bytes | None = None
    """Its bytes, where it does not lie on this disk."""
    name: str | None = None
    """A name whose suffix says the format, where `path` does not."""
    place: Path | None = None
    """Where its bytes lie for now, where that is not `path` and says nothing to anybody."""

    @property
    def on_disk(self) -> bool:
        """Whether it lies on this disk, where it can be looked at again."""
        return self.content is None and self.place is None

    def source_file(self) -> SourceFile:
        """Return what a parser needs of it."""
        return SourceFile(self.place or Path(self.name or self.path), self.id, self.content)


@dataclass(frozen=True)
class Selection:
    """Which files of a folder are wanted, by patterns as in `.gitignore`, relative to the folder."""

    include: GitIgnoreSpec | None = None
    exclude: GitIgnoreSpec | None = None
    only: GitIgnoreSpec | None = None
    """The pattern of a glob: a file must match it as well as `include`."""

    @classmethod
    def of(cls, include: Sequence[str] = (), exclude: Sequence[str] = (), only: str | None = None) -> Selection:
        """Read patterns.

        Raises:
            UsageError: one of them cannot be understood.
        """
        return cls(*(_spec(patterns) for patterns in (include, exclude, [f"/{only}"] if only else ())))

    def wants(self, name: str) -> bool:
        """Return whether a file is wanted, given its path below the folder."""
        if self.exclude is not None and self.exclude.match_file(name):
            return False
        return all(spec is None or spec.match_file(name) for spec in (self.include, self.only))

    def enters(self, name: str) -> bool:
        """Return whether anything in a folder may be wanted."""
        return self.exclude is None or not self.exclude.match_file(f"{name}/")


def walk(root: Path, selection: Selection | None = None) -> Iterator[FoundFile | SkippedFile]:
    """Yield what lies under `root`, a folder or one file, in the order of names.

    Hidden files and folders are passed over without a word, and so is what the selection leaves out; symbolic links
    are not followed.

    Raises:
        UsageError: there is no `root`, or it cannot be listed.
    """
    try:
        status = root.stat()
    except OSError as error:
        raise UsageError(f"There is no file or folder {str(root)!r}.") from error
    if stat.S_ISDIR(status.st_mode):
        yield from _walk_folder(root.as_posix(), "", selection or Selection())
    elif selection is None or selection.wants(root.name):
        yield _judged(root.as_posix(), root.name, root.name, status)


def _walk_folder(folder: str, prefix: str, selection: Selection) -> Iterator[FoundFile | SkippedFile]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if not prefix:
            raise UsageError(f"The folder {folder!r} cannot be listed: {error.strerror}.") from error
        yield SkippedFile(folder, f"a folder that cannot be listed: {error.strerror}")
        return
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
            continue
        if entry.is_dir(follow_symlinks=False):
            if selection.enters(name):
                yield from _walk_folder(entry.path, f"{name}/", selection)
        elif selection.wants(name):
            yield _judged_entry(entry, name)


def _judged_entry(entry: os.DirEntry[str], name: str) -> FoundFile | SkippedFile:
    # `docs/./a` and `./docs/a` are one source.
    path = entry.path.removeprefix("./")
    if entry.is_symlink():
        return SkippedFile(path, "a symbolic link")
    if entry.name == QUESTIONS:
        return SkippedFile(path, "the questions of a corpus")
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return SkippedFile(path, f"cannot be looked at: {error.strerror}")
    return _judged(path, name, entry.name, status)


def _judged(path: str, id_: str, name: str, status: os.stat_result) -> FoundFile | SkippedFile:
    suffix = os.path.splitext(name)[1].lower()
    if not stat.S_ISREG(status.st_mode):
        return SkippedFile(path, "no regular file")
    if suffix not in PARSERS:
        return SkippedFile(path, f"{suffix} files are not read" if suffix else "no suffix that says its format")
    if not id_.isprintable() or shown(path) != path:
        return SkippedFile(path, "a name with characters that cannot be printed")
    return FoundFile(path, id_, status.st_size, status.st_mtime_ns)


def shown(path: str) -> str:
    """Return a path as it can be printed and stored: bytes that are no UTF-8 as escapes."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec | None:
    try:
        return GitIgnoreSpec.from_lines(patterns) if patterns else None
    except ValueError as error:
        raise UsageError(f"A pattern among {', '.join(map(repr, patterns))} cannot be understood: {error}") from error
