"""Documents: listed page by page, shown with their chunks and versions, uploaded and deleted."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import Field, model_validator
from starlette.routing import Match
from starlette.types import Scope

from app.api import cursors
from app.api.deps import ServicesDep
from app.api.problems import document
from app.api.uploading import receive_upload
from app.schemas.collection import CollectionName
from app.schemas.document import (
    ChunkView,
    DocumentDeletion,
    DocumentDetail,
    DocumentPage,
    DocumentView,
    VersionList,
    VersionView,
)
from app.schemas.job import JobView
from app.schemas.schema import Schema
from app.schemas.upload import DocumentUpload, FileUpload
from indexer.store.records import DocumentRow

router = APIRouter(prefix="/v1/documents", tags=["documents"])

CURSOR = "documents"
VERSIONS = "/versions"
LARGEST_KEY = 2**63 - 1

DocumentIdPath = Annotated[
    str,
    Path(
        description="The document's id. Slashes in it may stay as they are; where it ends with `/versions`, the last "
        "one is written `%2F`.",
        openapi_examples={"plain": {"value": "lighthouse.md"}},
    ),
]


class OneCollection(Schema):
    """Which collection a document is in."""

    collection: CollectionName = "default"


class OneVersion(OneCollection):
    """The query of `GET /v1/documents/{id}`."""

    version: int | None = Field(default=None, ge=1, le=LARGEST_KEY)
    """The key of a version; None takes the current one."""
    as_of: date | None = None
    """Take the version that held on that day."""

    @model_validator(mode="after")
    def _one_of_them(self) -> OneVersion:
        if self.version is not None and self.as_of is not None:
            raise ValueError("version and as_of both say which version: give one of them")
        return self


class PageQuery(OneCollection):
    """The query of `GET /v1/documents`."""

    limit: int = Field(default=50, ge=1, le=1000)
    cursor: str | None = Field(default=None, max_length=4096)
    """`next_cursor` of the page before."""


class VersionsRoute(APIRoute):
    """Takes a path that ends with `/versions`, and not one whose last slash is part of an id (`%2Fversions`)."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Say whether a request is for this route."""
        if not scope.get("raw_path", b"").partition(b"?")[0].endswith(VERSIONS.encode()):
            return Match.NONE, {}
        return super().matches(scope)


UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/DocumentUpload"},
                "example": DocumentUpload.model_json_schema()["examples"][0],
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": 100,
                            "items": {"type": "string", "format": "binary"},
                            "description": "One file or more of a format that is read; its name is a label.",
                        },
                        **{
                            name: {"type": "string", "description": field.description or ""}
                            for name, field in FileUpload.model_fields.items()
                        },
                    },
                },
            },
        },
    }
}
ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "Queued. `GET` what `Location` names to see what becomes of it.",
        "headers": {"Location": {"description": "`/v1/jobs/{id}`", "schema": {"type": "string"}}},
    }
}


@router.get("", responses=document(404, 422, 503))
def list_documents(query: Annotated[PageQuery, Query()], services: ServicesDep) -> DocumentPage:
    """Return a page of the documents of a collection, in the order of their ids."""
    after = None if query.cursor is None else cursors.decode_text(CURSOR, query.cursor)
    rows = services.index.documents(query.collection, after, query.limit)
    views = tuple(DocumentView(**_shown(row, DocumentView)) for row in rows)
    return DocumentPage(
        documents=views,
        total=services.index.count_documents(query.collection),
        next_cursor=cursors.encode(CURSOR, views[-1].id) if len(views) == query.limit else None,
    )


@router.post(
    "",
    status_code=202,
    response_model=JobView,
    responses={**ACCEPTED, **document(400, 409, 415, 422)},
    openapi_extra=UPLOAD,
)
async def upload_documents(request: Request, services: ServicesDep) -> Response:
    """Take one text as JSON, or files, to be indexed; the response names the job that does it.

    A document whose id is known gets another version. What was accepted is indexed even if the server is ended before.
    """
    job = await receive_upload(request, services.resources.jobs)
    location = {"location": f"/v1/jobs/{job.id}"}
    return Response(job.model_dump_json(), 202, media_type="application/json", headers=location)


def list_versions(
    document_id: DocumentIdPath, query: Annotated[OneCollection, Query()], services: ServicesDep
) -> VersionList:
    """Return every version of a document, the newest first."""
    rows = services.index.versions(query.collection, document_id)
    return VersionList(versions=tuple(VersionView(**_shown(row, VersionView)) for row in rows))


router.add_api_route(
    "/{document_id:path}" + VERSIONS,
    list_versions,
    methods=["GET"],
    responses=document(404, 422, 503),
    route_class_override=VersionsRoute,
)


@router.get("/{document_id:path}", responses=document(404, 422, 503))
def show_document(
    document_id: DocumentIdPath, query: Annotated[OneVersion, Query()], services: ServicesDep
) -> DocumentDetail:
    """Return a document with its text and its chunks: as it is now, in an earlier version, or as of a day."""
    found = services.index.document(query.collection, document_id, query.version, query.as_of)
    chunks = tuple(ChunkView.model_validate(asdict(chunk)) for chunk in found.chunks)
    return DocumentDetail(**_shown(found, DocumentView), text=found.text, chunks=chunks)


@router.delete("/{document_id:path}", responses=document(404, 409, 422, 503))
async def delete_document(
    document_id: DocumentIdPath, query: Annotated[OneCollection, Query()], services: ServicesDep
) -> DocumentDeletion:
    """Delete a document with all its versions. No question that comes after the response finds it."""
    state = await services.resources.writer.delete_document(query.collection, document_id)
    return DocumentDeletion(
        deleted=document_id, collection=query.collection, generation=state.generation, revision=state.revision
    )


def _shown(row: DocumentRow, view: type[DocumentView]) -> dict[str, Any]:
    """Return the fields of a row that a view shows."""
    return {name: getattr(row, name) for name in view.model_fields}
