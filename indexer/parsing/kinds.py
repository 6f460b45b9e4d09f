"""What bytes are, whatever the file is called."""

from __future__ import annotations

import zipfile
from io import BytesIO

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP = b"PK\x03\x04"
PDF = b"%PDF-"
PDF_WITHIN = 1024
"""A PDF may have that many bytes of something else in front."""
ZIPPED = {
    "word/document.xml": "a Word document (DOCX)",
    "ppt/presentation.xml": "a presentation (PPTX)",
    "xl/workbook.xml": "a workbook (XLSX)",
    "META-INF/container.xml": "an EPUB book",
}
BEGINNINGS: tuple[tuple[tuple[bytes, ...], str], ...] = (
    ((OLE,), "an Office file of the old kind (.doc, .xls, .ppt) or one with a password"),
    ((b"{\\rtf",), "RTF"),
    ((b"<!doctype html", b"<html", b"<head", b"<body"), "an HTML page"),
    ((b"<?xml",), "XML"),
)
"""In lower case."""
NEVER_TEXT = (PDF, OLE, ZIP, b"{\\rtf")
"""Beginnings that a text does not have by chance."""


def kind_of(data: bytes) -> str:
    """Return what the bytes are, for a person: `a PDF`, `image/png`; empty where nobody can tell."""
    if data.startswith(ZIP):
        return _zipped(data)
    start = data[:PDF_WITHIN].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    known = next((kind for marks, kind in BEGINNINGS if start.startswith(marks)), "")
    return "a PDF" if PDF in data[:PDF_WITHIN] else known or _by_signature(data)


def never_text(data: bytes) -> str:
    """Return what the bytes are, if they begin as no text does; else an empty string."""
    return kind_of(data) if data.startswith(NEVER_TEXT) else ""


def _zipped(data: bytes) -> str:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return "a damaged zip file"
    return next((kind for name, kind in ZIPPED.items() if name in names), "a zip file")


def _by_signature(data: bytes) -> str:
    import filetype

    found = filetype.guess(data[:8192])
    return "" if found is None else str(found.mime)
