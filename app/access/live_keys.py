"""The keys as a running server sees them: as they are in the file at the moment of each request."""

from __future__ import annotations

import os
from pathlib import Path

from app.access.caller import EVERYBODY, Caller
from app.access.key import Key, id_of, opens
from app.access.keyring import read_keys

ABSENT = (0, 0, 0)


class LiveKeys:
    """Follows `keys.json`. Looking whether it has changed is one call of the system, some two microseconds."""

    def __init__(self, file: Path) -> None:
        """Read the file, which need not exist.

        Raises:
            KeysDamaged: It cannot be read.
        """
        self._file = file
        self._stamp = ABSENT
        self._keys: dict[str, Key] = {}
        self._guarded = False
        self._follow()

    @property
    def guarded(self) -> bool:
        """Whether callers must show a key: since there has been one, in use or revoked.

        A file that is taken away from under a running server opens nothing.
        """
        self._follow()
        return self._guarded

    def caller(self, secret: str | None) -> Caller | None:
        """Return who shows this secret, or None where it opens nothing. Without keys everybody is let in.

        Raises:
            KeysDamaged: The file cannot be read.
        """
        self._follow()
        if not self._guarded:
            return EVERYBODY
        if secret is None:
            return None
        key = self._keys.get(id_of(secret))
        return Caller.of(key) if opens(secret, key) and key is not None else None

    def _follow(self) -> None:
        stamp = _stamp(self._file)
        if stamp == self._stamp:
            return
        keys = read_keys(self._file)
        self._keys = {key.id: key for key in keys}
        self._guarded = self._guarded or bool(keys)
        self._stamp = stamp


def _stamp(file: Path) -> tuple[int, int, int]:
    """Return what changes with the file: every writer puts a new file in its place."""
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return ABSENT
    except OSError:
        # What cannot even be looked at is looked into again each time, and refused by `read_keys`.
        return (-1, 0, 0)
    return found.st_mtime_ns, found.st_size, found.st_ino
