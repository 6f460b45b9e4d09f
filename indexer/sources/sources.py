"""Where documents come from: files, folders, globs, stdin and, where that is allowed, http and https."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from corpus.errors import UsageError
from indexer.parsing import PARSERS
from indexer.sources.walking import FoundFile, Selection, SkippedFile, shown, walk
from terminal import did_you_mean

if TYPE_CHECKING:
    from indexer.sources.fetching import Fetched

STDIN = "-"
GLOB_MARKS = frozenset("*?[")
NO_STAMP = -1
"""The time of what has none: it is read each time."""


@dataclass(frozen=True)
class Root:
    """A file or folder that was named: what lies under it can be found missing."""

    path: Path
    absolute: str
    selection: Selection

    def holds(self, source: str) -> bool:
        """Return whether a source lies under it."""
        absolute = os.path.abspath(source)
        return absolute == self.absolute or absolute.startswith(self.absolute.rstrip("/") + "/")


class Sources:
    """What was named on the command line, in its order."""

    def __init__(
        self,
        paths: Sequence[Path | str],
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        stdin_name: str | None = None,
        fetch: Callable[[str], Fetched] | None = None,
        read_stdin: Callable[[], bytes] | None = None,
    ) -> None:
        """Look at what was named, before anything slow is done.

        Args:
            paths: files, folders, globs, `-` for stdin, and URLs.
            include: patterns as in .gitignore, of the files that are wanted; none wants every file.
            exclude: patterns of those that are not.
            stdin_name: what the document from stdin is called; its suffix says the format.
            fetch: fetches URLs; None refuses them.
            read_stdin: reads stdin, which is not read before it is its turn.

        Raises:
            UsageError: one of the paths does not exist or cannot be understood.
        """
        self._include, self._exclude = include, exclude
        self._stdin_name = stdin_name
        self._fetch = fetch
        self._read_stdin = read_stdin or _read_stdin
        self.names = tuple(str(path) for path in paths)
        self._named: list[Root | str] = [self._understood(name) for name in dict.fromkeys(self.names)]

    @property
    def roots(self) -> tuple[Root, ...]:
        """Return the files and folders that were named, globs with the folder that they begin in."""
        return tuple(root for root in self._named if isinstance(root, Root))

    @property
    def are_on_disk(self) -> bool:
        """Whether everything that was named lies on this disk, and can be looked at twice."""
        return len(self.roots) == len(self._named)

    @property
    def are_whole(self) -> bool:
        """Whether what is missing can be told: everything named is a file or a folder."""
        return all(isinstance(root, Root) and root.selection.only is None for root in self._named)

    def holds(self, source: str) -> bool:
        """Return whether a source lies under one of the files and folders that were named."""
        return any(root.holds(source) for root in self.roots)

    def check(self) -> None:
        """Raise `UsageError` where there is nothing to read, as far as that can be told without reading."""
        if not self.are_on_disk:
            return
        skipped: list[SkippedFile] = []
        for found in self:
            if isinstance(found, FoundFile):
                return
            skipped.append(found)
        where = ", ".join(map(repr, self.names))
        first = f"{shown(skipped[0].path)}: {skipped[0].reason}" if skipped else ""
        seen = f"; {len(skipped)} passed over, the first: {first}" if skipped else ""
        raise UsageError(f"No documents in {where}{seen}. Files that are read: {', '.join(PARSERS)}.")

    def __iter__(self) -> Iterator[FoundFile | SkippedFile]:
        """Yield what there is, each file once."""
        seen: set[str] | None = set() if len(self._named) > 1 else None
        for named in self._named:
            if isinstance(named, Root):
                yield from _new_in(named, seen)
            else:
                yield self._from_stdin() if named == STDIN else self._from_web(named)

    def on_disk(self) -> Iterator[FoundFile]:
        """Yield the files on this disk alone."""
        seen: set[str] | None = set() if len(self._named) > 1 else None
        for root in self.roots:
            yield from (found for found in _new_in(root, seen) if isinstance(found, FoundFile))

    def _understood(self, name: str) -> Root | str:
        if name == STDIN:
            self._check_stdin_name()
            return STDIN
        scheme, colon, _ = name.partition("://")
        if colon and scheme.isalnum():
            if self._fetch is None:
                raise UsageError(f"{name!r} is a URL, and none are fetched unless --allow-urls says so.")
            return name
        path = Path(name)
        if not os.path.lexists(path) and GLOB_MARKS & set(name):
            return self._glob(name)
        if not path.exists():
            near = did_you_mean(path.name, _names_in(path.parent))
            raise UsageError(f"There is no file or folder {name!r}.{near}")
        return self._root(path)

    def _glob(self, name: str) -> Root:
        """Understand `docs/**/*.md` as the folder `docs` with a pattern for what lies under it."""
        parts = PurePosixPath(name).parts
        first = next(position for position, part in enumerate(parts) if GLOB_MARKS & set(part))
        folder = Path(*parts[:first])
        if not folder.is_dir():
            raise UsageError(f"There is no folder {str(folder)!r} for the pattern {name!r} to begin in.")
        return self._root(folder, "/".join(parts[first:]))

    def _root(self, path: Path, only: str | None = None) -> Root:
        return Root(path, os.path.abspath(path), Selection.of(self._include, self._exclude, only))

    def _check_stdin_name(self) -> None:
        suffix = PurePosixPath(self._stdin_name or "").suffix.lower()
        if suffix not in PARSERS:
            given = f"{self._stdin_name!r} does not" if self._stdin_name else "nothing does"
            raise UsageError(
                f"`-` reads a document from stdin, and its name has to say its format; {given}: "
                f"use --stdin-name notes.md. Formats: {', '.join(PARSERS)}."
            )

    def _from_stdin(self) -> FoundFile:
        assert self._stdin_name is not None
        content = self._read_stdin()
        return FoundFile(
            f"stdin:{self._stdin_name}", self._stdin_name, len(content), NO_STAMP, content, self._stdin_name
        )

    def _from_web(self, url: str) -> FoundFile | SkippedFile:
        from indexer.sources.fetching import FetchRefused

        assert self._fetch is not None
        try:
            fetched = self._fetch(url)
        except FetchRefused as error:
            return SkippedFile(url, str(error), failed=True)
        id_ = url.partition("#")[0]
        return FoundFile(id_, id_, len(fetched.content), NO_STAMP, fetched.content, fetched.name)


def _new_in(root: Root, seen: set[str] | None) -> Iterator[FoundFile | SkippedFile]:
    """Yield what lies under a root and was not seen, and take notice of it; None sees nothing twice."""
    if seen is None:
        yield from walk(root.path, root.selection)
        return
    named, real = root.path.as_posix(), os.path.realpath(root.path)
    for found in walk(root.path, root.selection):
        # Nothing below a root is behind a symbolic link.
        place = real if found.path == named else f"{real}/{found.path.removeprefix(named + '/')}"
        if place not in seen:
            seen.add(place)
            yield found


def _read_stdin() -> bytes:
    return sys.stdin.buffer.read()


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
