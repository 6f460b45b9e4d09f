"""How bytes become text.

A byte order mark is honoured. Without one text is UTF-8, and where it is not, its encoding is detected, which the
notes of the document say. Nothing is text by default: what has NUL or control characters in it, or looks like text in
no encoding, is refused.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass

from indexer.parsing.kinds import kind_of, never_text
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Content, NotText, NotThisFormat, SourceFile

SHOWN_BYTES = 8
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    # Before UTF-16, whose mark this one begins with.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CONTROLS = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
"""Bytes that texts in no encoding have, but for a stray one."""
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
LONGEST_LEAD = 512
JUDGED_BYTES = 1 << 16
MOST_CONTROLS = 0.001
LEAST_PRINTABLE = 0.97
LEAST_ASCII = 0.5
LEAST_WIDE_BYTES = 16
PREFERRED = ("cp1252", "cp1251", "cp1250")
"""The commonest of the encodings that fit equally well is taken, not the first by alphabet."""
SINGLE_BAD_BYTE_SHARE = 0.05
"""At most so many bytes that are no UTF-8, for each character that is, come of damage and not of another encoding."""


@dataclass(frozen=True)
class TextFile:
    """A file that is one text."""

    text: str
    """With every line end as a line feed."""
    content: Content
    notes: tuple[str, ...]


def read_text(
    file: SourceFile, limits: ParsingLimits, declared: Callable[[bytes], str | None] | None = None
) -> TextFile:
    """Read a file that is one text.

    Args:
        file: the file.
        limits: how large it may be.
        declared: finds the encoding that the bytes themselves say they are in.

    Raises:
        NotText: the bytes are not text.
        NotThisFormat: they are known to be something else.
        TooMuch: there are more than the limits allow.
        OSError: the file cannot be read.
    """
    content = file.read(limits)
    text, notes = decode(content.data, declared and declared(content.data))
    return TextFile(text.replace("\r\n", "\n").replace("\r", "\n"), content, notes)


def decode(data: bytes, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    """Decode bytes as the byte order mark says, else as UTF-8, else as `declared`, else as is detected.

    Returns:
        The text, and notes on how it was read where that is not certain.

    Raises:
        NotText: they are text in no encoding.
        NotThisFormat: they are known to be something else.
    """
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return _without_nul(_decode(data[len(mark) :], encoding)), ()
    if kind := never_text(data):
        raise NotThisFormat(f"holds {kind}, not text")
    if b"\0" in data:
        raise NotText(_binary(data, f"NUL at byte {data.index(0)}: binary, or UTF-16 without a byte order mark"))
    try:
        return data.decode(), ()
    except UnicodeDecodeError as error:
        return _decode_other(data, declared, error)


def _decode_other(data: bytes, declared: str | None, error: UnicodeDecodeError) -> tuple[str, tuple[str, ...]]:
    """Decode what is not UTF-8."""
    controls = CONTROLS.findall(data)
    if len(controls) > max(1, MOST_CONTROLS * len(data)) or (controls and len(data) < 1 / MOST_CONTROLS):
        raise NotText(_binary(data, f"binary: {len(controls)} of {len(data)} bytes are control characters"))
    if damaged := _damaged_utf8(data):
        return damaged
    for encoding in [*([declared] if declared else []), *_detected(data)]:
        try:
            text = data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
        if _printable(text) >= LEAST_PRINTABLE:
            return _without_nul(text), (f"not UTF-8: read as {encoding}",)
    shown = data[error.start : error.start + SHOWN_BYTES].hex(" ")
    raise NotText(_binary(data, f"text in no encoding that is known: bytes {shown} at offset {error.start}"))


def _damaged_utf8(data: bytes) -> tuple[str, tuple[str, ...]] | None:
    """Decode UTF-8 in which some bytes are wrong, such as a character cut in two."""
    text = data.decode(errors="replace")
    wrong = text.count("\ufffd") - data.count("\ufffd".encode())
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore")) - wrong
    if wrong > SINGLE_BAD_BYTE_SHARE * beyond_ascii:
        return None
    return text, (f"{wrong} places are not UTF-8: replaced by \ufffd",)


def _detected(data: bytes) -> list[str]:
    """Return the encodings that the bytes may be in, the likeliest first."""
    import charset_normalizer

    judged = _judged(data)
    found = [match for match in charset_normalizer.from_bytes(judged) if not match.encoding.startswith("utf")]
    if not found:
        return []
    best = found[0]
    if not best.coherence and len(judged.decode("ascii", "ignore")) < LEAST_ASCII * len(judged):
        # Nothing speaks for any language: it may be noise that happens to have letters.
        found = [match for match in found if match.multi_byte_usage and len(judged) >= LEAST_WIDE_BYTES]
        return [match.encoding for match in found]
    equal = [match for match in found if (match.chaos, match.coherence) == (best.chaos, best.coherence)]
    names = {name for match in equal for name in (match.encoding, *match.could_be_from_charset)}
    preferred = [name for name in PREFERRED if name in names]
    return [*preferred, *(match.encoding for match in found)]


def _judged(data: bytes) -> bytes:
    """Return lines with bytes beyond ASCII, as many as are needed to judge them."""
    lines: list[bytes] = []
    end = taken = 0
    while taken < JUDGED_BYTES and (beyond := BEYOND_ASCII.search(data, end)):
        first = beyond.start()
        # Between the line before and the first byte beyond ASCII any place will do.
        earliest = max(end, first - LONGEST_LEAD)
        start = data.rfind(b"\n", earliest, first) + 1 or earliest
        end = data.find(b"\n", first, first + JUDGED_BYTES) + 1 or _before_beyond(data, first + JUDGED_BYTES)
        lines.append(data[start:end])
        taken += end - start
    return b"".join(lines)


def _before_beyond(data: bytes, at: int) -> int:
    """Return where a line that is too long may be cut: behind a byte of ASCII, since others come in pairs."""
    while at < len(data) and data[at - 1] > 0x7F:
        at += 1
    return min(at, len(data))


def _printable(text: str) -> float:
    """Return the share of characters that can be printed, or are white space; of a long text, among some."""
    some = text[:: 1 + len(text) // JUDGED_BYTES]
    return sum(1 for character in some if character.isprintable() or character.isspace()) / max(1, len(some))


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        shown = data[error.start : error.start + SHOWN_BYTES].hex(" ")
        name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
        raise NotText(f"not {name} text, as its mark says: bytes {shown} at offset {error.start}") from error


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise NotText(f"NUL at character {text.index(chr(0))}: binary")
    return text


def _binary(data: bytes, reason: str) -> str:
    """Return why the bytes are no text: what they are, if that is known, else `reason`."""
    kind = kind_of(data)
    return f"holds {kind}, not text" if kind else reason
