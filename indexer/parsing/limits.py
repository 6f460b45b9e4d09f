"""How much a file may take: a parser runs on bytes that anybody may have made."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class ParsingLimits:
    """What a file, and what a worker process, may take."""

    seconds: float = 60.0
    """For a file of one document; for one of many, for each part of it that a worker hands over."""
    memory_bytes: int = 2048 * MEBIBYTE
    """How much a worker's address space may grow while it reads one file."""
    input_bytes: int = 256 * MEBIBYTE
    """The largest file. Formats of one document on each line have no limit but that of a line."""
    line_bytes: int = 20 * MEBIBYTE
    """The longest line of JSONL."""
    inflated_bytes: int = 256 * MEBIBYTE
    """What all entries of a zip file (DOCX, PPTX, XLSX, EPUB) may hold together, counted while they are inflated."""
    inflated_ratio: int = 200
    """How many times its packed size an entry of more than 8 MiB may hold."""
    entries: int = 20_000
    """How many entries a zip file may have."""
    files_per_worker: int = 200
    """After so many files that are not plain text a worker is replaced, since libraries leak."""
    worker_growth_bytes: int = 512 * MEBIBYTE
    """A worker that has grown by so much is replaced."""
