"""`GET /healthz`, is the process there, and `GET /readyz`, can it answer."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.deps import ServicesDep
from app.api.problems import document
from app.errors import EngineUnreachable
from app.schemas import Health, Readiness

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> Health:
    """Say that the server runs."""
    return Health()


@router.get("/readyz", responses=document(503))
async def readyz(services: ServicesDep) -> Readiness:
    """Say what is served, or with 503 why nothing is."""
    services.require_engine()
    if not await services.engine.is_up():
        raise EngineUnreachable(f"The engine at {services.engine.url} does not answer.")
    return Readiness(
        checkpoint=services.checkpoint,
        engine_url=services.engine.url,
        embedder=services.index.embedder_name,
        collections=services.index.collections(),
        revisions=services.index.revisions(),
    )
