"""Checkpoints: those of the registry, and which of them are served."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

import terminal
from app.access.caller import current_caller
from app.api.deps import Services, ServicesDep
from app.api.problems import document
from app.checkpoints import read_card
from app.errors import CheckpointDamaged, CheckpointNotFound
from app.schemas.checkpoint import CheckpointList, CheckpointView

router = APIRouter(prefix="/v1/checkpoints", tags=["checkpoints"])

Label = Annotated[str, Path(description="`name@version`.", openapi_examples={"served": {"value": "small@1"}})]


@router.get("", responses=document(503))
def list_checkpoints(services: ServicesDep) -> CheckpointList:
    """Return the cards of the registry, and what is served from elsewhere.

    Needs `read` on all collections: a card tells what a checkpoint was trained on.
    """
    return CheckpointList(checkpoints=tuple(_views(services)))


@router.get("/{label}", responses=document(404, 503))
def show_checkpoint(label: Label, services: ServicesDep) -> CheckpointView:
    """Return one checkpoint. Needs `read` on all collections."""
    views = {view.label: view for view in _views(services)}
    if label not in views:
        hint = terminal.did_you_mean(label, list(views))
        raise CheckpointNotFound(f"There is no checkpoint {label!r}.{hint} There are: {', '.join(views) or 'none'}.")
    return views[label]


def _views(services: Services) -> list[CheckpointView]:
    current_caller().require_everything("/v1/checkpoints")
    served = services.pools.checkpoints
    views = {label: CheckpointView(label=label, served=True, card=None) for label in served}
    for path in sorted(services.resources.checkpoints.glob("[!.]*/checkpoint.json")):
        label = path.parent.name
        try:
            card = read_card(path)
            views[card.label] = CheckpointView(label=card.label, served=card.label in served, card=card)
        except CheckpointDamaged as error:
            views[label] = CheckpointView(label=label, served=label in served, card=None, problem=str(error))
    return [views[label] for label in sorted(views)]
