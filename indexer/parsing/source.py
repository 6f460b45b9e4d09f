"""What parsers take and give."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from corpus.schema import Document
from indexer.parsing.limits import MEBIBYTE, ParsingLimits

NO_MEMORY = 2
"""How libxml2 says it: all that it has to say is `unknown error`."""


@dataclass(frozen=True)
class SourceFile:
    """A file to be read."""

    path: Path
    """Where it lies; where `content` is given, a name with a suffix that says the format."""
    id: str
    """Its path below the folder that was named, with `/`: the id of the document where the file is one."""
    content: bytes | None = None
    """Its bytes, where they come from elsewhere than `path`."""

    @property
    def suffix(self) -> str:
        """Return what says the format, in lower case: `.md`."""
        return self.path.suffix.lower()

    @property
    def size(self) -> int:
        """Return how many bytes it has.

        Raises:
            OSError: it cannot be looked at.
        """
        return self.path.stat().st_size if self.content is None else len(self.content)

    def open(self) -> BinaryIO:
        """Open it for reading.

        Raises:
            OSError: it cannot be read.
        """
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def read(self, limits: ParsingLimits) -> Content:
        """Read it whole.

        Raises:
            TooMuch: it is larger than the limits allow.
            OSError: it cannot be read.
        """
        data = b""
        with self.open() as opened:
            # As far as it goes, whatever its size was said to be: it may grow, and a device has none.
            step = self.size + 1
            while len(data) <= limits.input_bytes and (more := opened.read(min(step, limits.input_bytes + 1))):
                data += more
                step = max(MEBIBYTE, len(data))
        if len(data) > limits.input_bytes:
            raise TooMuch(f"larger than {limits.input_bytes // MEBIBYTE} MiB (OPENBOOK_PARSER_FILE_MIB)")
        return Content(data)


@dataclass(frozen=True)
class Content:
    """The bytes of a whole file."""

    data: bytes

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the bytes, as 64 hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def size(self) -> int:
        """Return how many bytes there are."""
        return len(self.data)


@dataclass(frozen=True)
class Heading:
    """A line of the text that is the heading of what follows: `text[start:end]`, marks included."""

    start: int
    end: int
    level: int
    """1 for the outermost, 6 for the innermost."""
    title: str
    """Its words, without marks."""


@dataclass(frozen=True)
class Table:
    """A table in the text: `text[start:body]` is its header, `text[body:end]` its rows, one on each line."""

    start: int
    body: int
    end: int


@dataclass(frozen=True)
class Parsed:
    """A document as it was read."""

    document: Document
    source_hash: str
    """SHA-256 of the bytes that it was read from."""
    size: int
    """How many bytes that were."""
    headings: tuple[Heading, ...] = ()
    """In the order of the text."""
    tables: tuple[Table, ...] = ()
    """In the order of the text; they do not overlap."""
    pages: tuple[int, ...] = ()
    """The offset at which each page begins, empty where the format has none. Page 1 begins at 0."""
    notes: tuple[str, ...] = ()
    """What the reader should know and is no failure: `pages 2, 5: no text`."""


@dataclass(frozen=True)
class Unreadable:
    """A file, or a line of it, that is not a document."""

    reason: str
    size: int
    line: int | None = None
    empty: bool = False
    """Whether nothing is wrong with it but that it holds no text."""


class Unparsable(ValueError):
    """A file is refused; the message says why."""


class NotText(Unparsable):
    """The bytes are not text in an encoding that is read."""


class NotThisFormat(Unparsable):
    """The file is not what its name says, or is damaged."""


@contextmanager
def as_damage(kind: str) -> Iterator[None]:
    """Turn whatever a library raises over a file of its format into the reason that the file is damaged."""
    try:
        yield
    except (Unparsable, OSError, MemoryError, RecursionError):
        raise
    except Exception as error:
        if getattr(error, "code", None) == NO_MEMORY and str(error).startswith("unknown error"):
            raise MemoryError from error
        raise NotThisFormat(f"a damaged {kind}: {type(error).__name__}: {error}") from error


class NoText(Unparsable):
    """The file is in order, and there is no text in it."""


class TooMuch(Unparsable):
    """The file takes more than the limits allow."""
