"""Waiting for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_for(reached: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait until something is true; fail when it is not in time."""
    ends_at = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < ends_at
        time.sleep(0.01)
