"""`GET /v1/documents`, page by page, and one document with its chunks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from app.api.deps import ServicesDep
from app.api.problems import document
from app.schemas.document import ChunkView, DocumentDetail, DocumentPage, DocumentView
from app.schemas.schema import Schema
from indexer.store.records import DocumentRow

router = APIRouter(prefix="/v1/documents", tags=["documents"])


class OneCollection(Schema):
    """The query of `GET /v1/documents/{id}`."""

    collection: str = "default"


class PageQuery(OneCollection):
    """The query of `GET /v1/documents`."""

    limit: int = Field(default=50, ge=1, le=1000)
    cursor: str | None = None
    """`next_cursor` of the page before."""


@router.get("", responses=document(404, 422, 503))
def list_documents(query: Annotated[PageQuery, Query()], services: ServicesDep) -> DocumentPage:
    """Return a page of the documents of a collection, in the order of their ids."""
    rows = services.index.documents(query.collection, query.cursor, query.limit)
    views = tuple(DocumentView(**_shown(row)) for row in rows)
    return DocumentPage(
        documents=views,
        total=services.index.count_documents(query.collection),
        next_cursor=views[-1].id if len(views) == query.limit else None,
    )


@router.get("/{document_id:path}", responses=document(404, 422, 503))
def show_document(document_id: str, query: Annotated[OneCollection, Query()], services: ServicesDep) -> DocumentDetail:
    """Return a document with its text and its chunks, as they are in the index now."""
    found = services.index.document(query.collection, document_id)
    chunks = tuple(ChunkView.model_validate(asdict(chunk)) for chunk in found.chunks)
    return DocumentDetail(**_shown(found), text=found.text, chunks=chunks)


def _shown(row: DocumentRow) -> dict[str, object]:
    """Return the fields of a row that `DocumentView` shows."""
    return {name: getattr(row, name) for name in DocumentView.model_fields}
