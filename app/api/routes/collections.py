"""Collections: what there is, and the deletion of one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path

from app.api.deps import ServicesDep
from app.api.problems import document
from app.schemas.collection import CollectionDeletion, CollectionList, CollectionView

router = APIRouter(prefix="/v1/collections", tags=["collections"])

Name = Annotated[str, Path(openapi_examples={"default": {"value": "default"}})]


@router.get("", responses=document(503))
def list_collections(services: ServicesDep) -> CollectionList:
    """Return the collections that the caller may use."""
    views = [_view(name, services) for name in services.index.collections()]
    return CollectionList(collections=tuple(views))


@router.get("/{name}", responses=document(404, 503))
def show_collection(name: Name, services: ServicesDep) -> CollectionView:
    """Return one collection: its embedding model, how much is in it, and which state of it is searched."""
    return _view(name, services)


@router.delete("/{name}", responses=document(404, 409, 503))
async def delete_collection(name: Name, services: ServicesDep) -> CollectionDeletion:
    """Delete a collection with all that is in it."""
    state = await services.resources.writer.delete_collection(name)
    return CollectionDeletion(deleted=name, revision=state.revision)


def _view(name: str, services: ServicesDep) -> CollectionView:
    return CollectionView.model_validate(asdict(services.index.collection(name)))
