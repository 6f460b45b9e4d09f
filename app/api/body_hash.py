"""What tells whether two requests have the same body."""

from __future__ import annotations

import hashlib
import re

BOUNDARY = re.compile(rb"boundary=(?:\"([^\"]{1,70})\"|([^;,\s]{1,70}))", re.IGNORECASE)


class BodyHash:
    """A SHA-256 over a body that comes in pieces.

    A client that sends a form again separates its parts by another random boundary: it is the same body even so.
    """

    def __init__(self, content_type: bytes) -> None:
        """Take the content type, which names the boundary where there is one."""
        self._digest = hashlib.sha256(content_type.partition(b";")[0].strip().lower())
        found = BOUNDARY.search(content_type) if content_type.lower().startswith(b"multipart/") else None
        self._boundary = (found[1] or found[2]) if found else b""
        self._held = b""

    def update(self, piece: bytes) -> None:
        """Take the next piece."""
        if not self._boundary:
            self._digest.update(piece)
            return
        *whole, rest = (self._held + piece).split(self._boundary)
        for part in whole:
            self._digest.update(part)
            self._digest.update(b"\0boundary\0")
        # Its end may be the beginning of a boundary.
        safe = max(0, len(rest) - len(self._boundary) + 1)
        self._digest.update(rest[:safe])
        self._held = rest[safe:]

    def hexdigest(self) -> str:
        """Return the hash of all pieces."""
        whole = self._digest.copy()
        whole.update(self._held)
        return whole.hexdigest()
