"""Label values that stay few, however many there are to be named."""

from __future__ import annotations

MOST = 100
OTHER = "other"


class Bounded:
    """Names the first so many values; every further one is `other`."""

    def __init__(self, most: int = MOST) -> None:
        """Take how many have a name."""
        self._most = most
        self._known: set[str] = set()

    def of(self, value: str | None) -> str:
        """Return the label of a value; None is nobody's, and `other`."""
        if value is None:
            return OTHER
        if value not in self._known and len(self._known) >= self._most:
            return OTHER
        self._known.add(value)
        return value
