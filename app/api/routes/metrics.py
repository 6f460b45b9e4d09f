"""`GET /metrics`, for Prometheus."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from app.access.caller import current_caller
from app.api.deps import ServicesDep

router = APIRouter(tags=["health"])

AS_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The figures.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/metrics", response_class=Response, responses=AS_TEXT)
async def metrics(services: ServicesDep) -> Response:
    """Return counters and histograms in Prometheus's text format.

    Needs `read` on all collections: the figures are those of all callers together.
    """
    current_caller().require_everything("/metrics")
    up = services.engine_problem() is None and await services.engine.is_up()
    text = services.telemetry.exposition(up, services.index.collections(), services.index.revisions())
    return Response(text, media_type=CONTENT_TYPE_LATEST)
