"""What the routes are given: the parts that one app was assembled from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from app.access.guarded_index import GuardedIndex
from app.answering import Answerer
from app.chat.arms import Arm, list_arms
from app.engine import Engine
from app.errors import Draining, EngineFailed
from app.flow.drain import Drain
from app.pools import Pools
from app.resources import Resources
from app.rollout.rollouts import Rollouts
from app.telemetry import Telemetry


@dataclass(frozen=True)
class Services:
    """The parts of one running app."""

    index: GuardedIndex
    """As the caller of the request at hand may see it."""
    pools: Pools
    answerer: Answerer
    telemetry: Telemetry
    drain: Drain
    rollouts: Rollouts
    started: int
    """When the app was made, in seconds since 1970."""
    resources: Resources
    heartbeat_s: float = 15.0
    """Seconds of silence after which a streamed answer sends a comment."""

    @property
    def checkpoint(self) -> str:
        """The label that answers where a request names none."""
        return self.pools.default

    @property
    def engine(self) -> Engine:
        """The engine of that checkpoint."""
        return self.pools.engine_for()

    @property
    def arms(self) -> tuple[Arm, ...]:
        """What OpenAI's paths call models; the first is the default."""
        return list_arms(self.pools.checkpoints)

    def engine_problem(self) -> str | None:
        """Say why the default's engine cannot answer; None where nothing is known against it."""
        return self.pools.problem()

    def require_running(self) -> None:
        """Raise `Draining` where the server is ending."""
        if self.drain.has_begun:
            raise Draining("The server is ending: it finishes what it has and takes nothing new.")

    def require_engine(self, checkpoint: str | None = None) -> None:
        """Raise `EngineFailed` where the engine of a checkpoint is known not to answer.

        Raises:
            CheckpointNotServed: There is none.
        """
        if problem := self.pools.problem(checkpoint):
            raise EngineFailed(problem)


async def _services(request: Request) -> Services:
    # FastAPI would call a plain function in a thread, which costs more than all that this does.
    return cast(Services, request.app.state.services)


ServicesDep = Annotated[Services, Depends(_services)]
