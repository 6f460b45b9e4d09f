"""How bytes become text."""

from __future__ import annotations

import codecs

from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Content, NotText, SourceFile

SHOWN_BYTES = 8
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read_text(file: SourceFile, limits: ParsingLimits) -> tuple[str, Content]:
    """Read a file that is one text.

    Returns:
        The text with every line end as a line feed, and the bytes that it was read from.

    Raises:
        NotText: the bytes are not text.
        TooMuch: it is larger than the limits allow.
        OSError: the file cannot be read.
    """
    content = file.read(limits)
    return decode(content.data).replace("\r\n", "\n").replace("\r", "\n"), content


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
