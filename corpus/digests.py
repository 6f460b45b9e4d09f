"""Hashes of files, by which bytes are known again."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as 64 hexadecimal digits. It is read in pieces, whatever its size.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
