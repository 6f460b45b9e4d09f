"""`GET /metrics`, for Prometheus: Openbook's own, and through it those of the engines, which nobody else can reach."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool

from app.access.caller import current_caller
from app.api.deps import ServicesDep
from app.api.problems import document
from app.errors import EngineNotKnown
from app.schemas.metrics import Target

router = APIRouter(tags=["health"])
TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus's text format.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/metrics", response_class=Response, responses=TEXT)
async def metrics(services: ServicesDep) -> Response:
    """Return counters and histograms in Prometheus's text format.

    Needs `read` on all collections: the figures are those of all callers together.
    """
    current_caller().require_everything("/metrics")
    up = services.engine_problem() is None and await services.engine.is_up()
    jobs = await run_in_threadpool(services.resources.job_counts)
    text = services.telemetry.exposition(up, services.index.collections(), services.index.revisions(), jobs)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


@router.get("/metrics/targets")
async def list_targets(request: Request, services: ServicesDep) -> tuple[Target, ...]:
    """Return the engines for Prometheus's HTTP service discovery, as they are now.

    An engine listens on loopback and only this server reaches it, so each target is this server, under the address at
    which it was just asked, with a path for each engine.
    """
    current_caller().require_everything("/metrics/targets")
    return tuple(
        Target(
            targets=(request.url.netloc,),
            labels={"__metrics_path__": f"/metrics/engines/{name}", "pool": pool.name, "engine": name},
        )
        for pool in services.pools.pools
        for name in map(_name, pool.measured_urls)
    )


@router.get("/metrics/engines/{engine}", response_class=Response, responses={**TEXT, **document(404, 502, 503)})
async def engine_metrics(
    engine: Annotated[str, Path(max_length=300, openapi_examples={"plain": {"value": "127.0.0.1:8001"}})],
    services: ServicesDep,
) -> Response:
    """Return what an engine that `/metrics/targets` names says of itself."""
    current_caller().require_everything("/metrics/engines")
    known = {_name(url): (pool, url) for pool in services.pools.pools for url in pool.measured_urls}
    if engine not in known:
        raise EngineNotKnown(f"There is no engine {engine!r}. /metrics/targets lists {', '.join(known)}.")
    pool, url = known[engine]
    return Response(await pool.engine.metrics(url), media_type=CONTENT_TYPE_LATEST)


def _name(url: str) -> str:
    """Return host and port of an engine."""
    return urlsplit(url).netloc
