"""Zip files (DOCX, PPTX, XLSX, EPUB): what they hold is counted while it is inflated, before any library reads it."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO

from indexer.parsing.kinds import ZIP, kind_of
from indexer.parsing.limits import MEBIBYTE, ParsingLimits
from indexer.parsing.source import Content, NotThisFormat, SourceFile, TooMuch

PIECE_BYTES = 1 << 16
RATIO_FROM_BYTES = 8 * MEBIBYTE
"""An entry that holds less may be packed as tightly as it likes."""
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, KeyError, OverflowError)


def open_zip(file: SourceFile, limits: ParsingLimits, needed: str, kind: str) -> tuple[Content, zipfile.ZipFile]:
    """Open a zip file, all of whose entries can be read and stay within the limits.

    Args:
        file: the file.
        limits: what it may hold.
        needed: the entry that a file of its format has.
        kind: what a file of its format is called, for the reason why this is none.

    Raises:
        NotThisFormat: it is something else, or damaged.
        TooMuch: it holds more than the limits allow.
        OSError: it cannot be read.
    """
    content = file.read(limits)
    if not content.data.startswith(ZIP):
        found = kind_of(content.data) or ("empty" if not content.data else "something else")
        raise NotThisFormat(f"not {kind}: the file is {found}")
    try:
        archive = zipfile.ZipFile(BytesIO(content.data))
        _check(archive, limits)
    except DAMAGE as error:
        raise NotThisFormat(f"not {kind}, or a damaged one: {error}") from error
    except RuntimeError as error:
        raise NotThisFormat(f"not {kind} that can be read: {error}") from error
    if needed not in archive.NameToInfo:
        raise NotThisFormat(f"not {kind}: the file is {kind_of(content.data)}")
    return content, archive


def _check(archive: zipfile.ZipFile, limits: ParsingLimits) -> None:
    """Inflate every entry once, and stop at the first that is too much: the sizes that are declared may be lies."""
    entries = archive.infolist()
    if len(entries) > limits.entries:
        raise TooMuch(f"a zip file of {len(entries)} entries, more than the {limits.entries} that are read")
    total = 0
    for entry in entries:
        size = 0
        with archive.open(entry) as opened:
            while piece := opened.read(PIECE_BYTES):
                size += len(piece)
                total += len(piece)
                if total > limits.inflated_bytes:
                    most = limits.inflated_bytes // MEBIBYTE
                    raise TooMuch(f"holds more than {most} MiB when it is inflated (OPENBOOK_PARSER_FILE_MIB)")
                if size > max(RATIO_FROM_BYTES, limits.inflated_ratio * entry.compress_size):
                    raise TooMuch(
                        f"{entry.filename[:80]!r} in it holds more than {limits.inflated_ratio} times its packed size"
                    )
