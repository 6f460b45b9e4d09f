"""What the routes are given: the parts that one app was assembled from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from app.access.guarded_index import GuardedIndex
from app.answering import Answerer
from app.chat.arms import Arm
from app.engine import Engine
from app.errors import Draining, EngineFailed
from app.flow.drain import Drain
from app.telemetry import Telemetry


@dataclass(frozen=True)
class Services:
    """The parts of one running app."""

    index: GuardedIndex
    """As the caller of the request at hand may see it."""
    engine: Engine
    answerer: Answerer
    telemetry: Telemetry
    checkpoint: str
    """The label that answers where a request names none."""
    engine_problem: Callable[[], str | None]
    """Why the supervised engine cannot answer; None where nothing is known against it."""
    drain: Drain
    arms: tuple[Arm, ...]
    """What OpenAI's paths call models; the first is the default."""
    started: int
    """When the app was made, in seconds since 1970."""
    heartbeat_s: float = 15.0
    """Seconds of silence after which a streamed answer sends a comment."""

    def require_running(self) -> None:
        """Raise `Draining` where the server is ending."""
        if self.drain.has_begun:
            raise Draining("The server is ending: it finishes what it has and takes nothing new.")

    def require_engine(self) -> None:
        """Raise `EngineFailed` where the engine is known not to answer."""
        if problem := self.engine_problem():
            raise EngineFailed(problem)


def _services(request: Request) -> Services:
    return cast(Services, request.app.state.services)


ServicesDep = Annotated[Services, Depends(_services)]
