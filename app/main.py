"""Assembles the app from its parts. Nothing is made at import."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app import api
from app.access.guarded_index import GuardedIndex
from app.access.live_keys import LiveKeys
from app.answering import Answerer
from app.api import middleware, problems
from app.api.deps import Services
from app.api.describing import described
from app.flow.drain import Drain
from app.pools import Pool, Pools
from app.resources import open_resources
from app.rollout.rollouts import rollouts_of
from app.routing.load import load_routing
from app.served import assembler_for
from app.serving.backend import Backend
from app.settings import Settings
from app.telemetry import Telemetry
from app.tracing import open_tracing
from indexer.index import Index

VERSION = "0.1.0"


def create_app(
    settings: Settings,
    index: Index,
    engines: Sequence[Pool],
    *,
    drain: Drain | None = None,
    backend: Backend | None = None,
) -> FastAPI:
    """Return the REST API over an index and the pools of engines.

    Args:
        settings: Limits, and the file of the API keys.
        index: The documents; the caller closes it.
        engines: Where the checkpoints are served, the default first.
        drain: What ends the server in good order, where something does.
        backend: What starts engines for rollouts; without it they can only move between engines that run.

    Raises:
        CheckpointDamaged: The card of a served checkpoint cannot be read.
        KeysDamaged: The file of the API keys cannot be read.
        PromptFileInvalid, PromptNotFound, RoutingNotFound: The settings name what does not exist or cannot be read.
    """
    keys, drain, telemetry = (
        LiveKeys(settings.keys_file),
        drain or Drain(),
        Telemetry(open_tracing(settings.otlp_endpoint)),
    )
    pools = Pools(
        engines,
        lambda model: assembler_for(model, settings.max_model_len, settings.system_role),
        load_routing(settings.routing, settings.routing_options),
    )
    guarded, resources = GuardedIndex(index), open_resources(settings, index)
    rollouts = rollouts_of(pools, backend, settings)
    answerer = Answerer(guarded, pools, telemetry, settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with resources.running():
            yield
        await rollouts.close()
        answerer.close()
        await pools.close()
        telemetry.close()

    app = FastAPI(title="Openbook", version=VERSION, lifespan=lifespan, **api.DESCRIBED)
    app.state.services = Services(
        guarded,
        pools,
        answerer,
        telemetry,
        drain,
        rollouts,
        started=int(time.time()),
        resources=resources,
        heartbeat_s=settings.heartbeat_s,
    )
    for router in api.ROUTERS:
        app.include_router(router)
    problems.install(app)
    middleware.install(app, settings, telemetry, keys, drain, replies=resources.replies)
    app.openapi = lambda: described(app)  # type: ignore[method-assign]
    return app
