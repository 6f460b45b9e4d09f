"""What parsers take and give, and how bytes become text.

Text is UTF-8, or UTF-16 with a byte order mark. Anything else is refused with a reason: a guessed encoding turns any
binary file into a document.
"""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass
from pathlib import Path

from corpus.schema import Document

SHOWN_BYTES = 8
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class SourceFile:
    """A file to be read."""

    path: Path
    id: str
    """Its path below the folder that was named, with `/`: the id of the document where the file is one."""


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


class NotText(ValueError):
    """The bytes are not text in an encoding that is read; the message says why."""


def read_document(file: SourceFile) -> tuple[str, str, int]:
    """Read a file that is one document.

    Returns:
        The text with every line end as a line feed, the SHA-256 of the bytes and how many they are.

    Raises:
        NotText: the bytes are not text.
        OSError: the file cannot be read.
    """
    content = file.path.read_bytes()
    text = decode(content).replace("\r\n", "\n").replace("\r", "\n")
    return text, hashlib.sha256(content).hexdigest(), len(content)


def decode(content: bytes) -> str:
    """Decode bytes as the byte order mark says, else as UTF-8.

    Raises:
        NotText: they are in another encoding, or binary.
    """
    encoding = next((encoding for bom, encoding in BOMS if content.startswith(bom)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        shown = content[error.start : error.start + SHOWN_BYTES].hex(" ")
        raise NotText(
            f"not {encoding.removesuffix('-sig').upper()} text: bytes {shown} at offset {error.start} "
            "(save it as UTF-8, if it is text)"
        ) from error
    if "\0" in text:
        offset = text.index("\0")
        raise NotText(f"NUL at character {offset}: a binary file, or UTF-16 without a byte order mark")
    return text
