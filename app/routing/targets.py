"""The checkpoint that a policy sends its exceptions to."""

from __future__ import annotations

from collections.abc import Sequence


def other_checkpoint(named: str | None, served: Sequence[str]) -> str:
    """Return the checkpoint that was named, else the second that is served, else the only one."""
    return named or served[min(1, len(served) - 1)]
