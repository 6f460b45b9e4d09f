"""How long each stage of an answer took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from app import tracing
from app.schemas.answer import Timing

Stage = Literal["queue", "embed", "search", "prompt", "first_token", "generate", "cite"]


class Stages:
    """The clock of one question, which starts when it is made."""

    def __init__(self) -> None:
        """Start."""
        self._started = time.perf_counter()
        self._spent: dict[Stage, float] = {}

    @contextmanager
    def timing(self, stage: Stage) -> Iterator[None]:
        """Count the time that is spent inside as that of a stage."""
        started = time.perf_counter()
        try:
            with tracing.span(stage):
                yield
        finally:
            self._count(stage, time.perf_counter() - started)

    def add(self, stage: Stage, seconds: float, ended_ago: float = 0.0) -> None:
        """Count seconds that were measured elsewhere, and ended so many seconds ago."""
        tracing.past(stage, seconds, ended_ago)
        self._count(stage, seconds)

    def _count(self, stage: Stage, seconds: float) -> None:
        self._spent[stage] = self._spent.get(stage, 0.0) + seconds

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self._started

    def timing_now(self) -> Timing:
        """Return the milliseconds of each stage and of all since the start."""
        spent = {f"{stage}_ms": _milliseconds(seconds) for stage, seconds in self._spent.items()}
        return Timing(**spent, total_ms=_milliseconds(self.seconds()))


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
