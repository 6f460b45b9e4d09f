"""`GET /healthz`, is the process there, and `GET /readyz`, can it answer."""

from __future__ import annotations

from fastapi import APIRouter

from app.access.caller import current_caller
from app.api.deps import Services, ServicesDep
from app.api.problems import document
from app.errors import AppError, Draining, EngineUnreachable, NotReady
from app.schemas.health import Health, Readiness, Ready

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> Health:
    """Say that the server runs."""
    return Health()


@router.get("/readyz", responses=document(503))
async def readyz(services: ServicesDep) -> Readiness | Ready:
    """Say what is served, or with 503 why nothing is. Where the server has keys, only those who show one learn more."""
    tells = "read" in current_caller().scopes
    try:
        await _require_all(services)
    except AppError as error:
        if tells or isinstance(error, Draining):
            raise
        raise NotReady("The server is not ready. Show an API key to learn why.") from error
    if not tells:
        return Ready()
    return Readiness(
        checkpoint=services.checkpoint,
        engine_url=services.engine.url,
        embedder=services.index.embedder_name,
        collections=services.index.collections(),
        revisions=services.index.revisions(),
    )


async def _require_all(services: Services) -> None:
    services.require_running()
    services.require_engine()
    if not await services.engine.is_up():
        raise EngineUnreachable(f"The engine at {services.engine.url} does not answer.")
