"""Rolling updates: `POST /v1/checkpoints/{label}/promote`, `POST /v1/checkpoints/rollback` and `GET /v1/rollouts`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.api.deps import ServicesDep
from app.api.problems import document
from app.schemas.rollout import Rollout, RolloutList, RolloutRequest

router = APIRouter(prefix="/v1", tags=["checkpoints"])

Label = Annotated[str, Path(description="`name@version`.", openapi_examples={"next": {"value": "small@2"}})]
RolloutId = Annotated[str, Path(description="As begun.", openapi_examples={"begun": {"value": "rollout-1"}})]


@router.post("/checkpoints/rollback", status_code=202, responses=document(404, 409, 422))
async def rollback(body: RolloutRequest, services: ServicesDep, response: Response) -> Rollout:
    """Begin to go back to the checkpoint that was served before the last promotion. Follow it at `Location`."""
    return _begun(services.rollouts.rollback(body), response)


@router.post("/checkpoints/{label:path}/promote", status_code=202, responses=document(404, 409, 422))
async def promote(label: Label, body: RolloutRequest, services: ServicesDep, response: Response) -> Rollout:
    """Begin to make a checkpoint the one that answers where a request names none. Follow it at `Location`.

    Its replicas are started and probed beside those that answer, or in their place one after the other where memory is
    short; no request fails. Where a replica does not come up, or a probe fails, all is left as it was.
    """
    return _begun(services.rollouts.promote(label, body), response)


@router.get("/rollouts")
async def list_rollouts(services: ServicesDep) -> RolloutList:
    """List the rollouts, the latest first."""
    return RolloutList(rollouts=services.rollouts.all())


@router.get("/rollouts/{rollout_id}", responses=document(404, 422))
async def show_rollout(rollout_id: RolloutId, services: ServicesDep) -> Rollout:
    """Return a rollout as it is now; `status` is `running` until it ends."""
    return services.rollouts.get(rollout_id)


def _begun(rollout: Rollout, response: Response) -> Rollout:
    response.headers["location"] = f"/v1/rollouts/{rollout.id}"
    return rollout
