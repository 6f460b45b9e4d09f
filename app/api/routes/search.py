"""`POST /v1/search`: passages for a question, without a model."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from app.api.deps import Services, ServicesDep
from app.api.disconnects import while_connected
from app.api.problems import document
from app.retrieving import retrieve
from app.schemas.answer import AnswerRequest
from app.schemas.search import SearchRequest, SearchResults

router = APIRouter(prefix="/v1/search", tags=["search"])


@router.post("", response_model=SearchResults, responses=document(400, 404, 422, 503))
async def search(request: Request, body: SearchRequest, services: ServicesDep) -> Response:
    """Return the passages that an answer with these options would rest on, with their scores.

    Where nothing is found, `nothing_found` says why.
    """
    found = await while_connected(request.receive, _search(body, services))
    return Response(found.model_dump_json(), media_type="application/json")


async def _search(body: SearchRequest, services: Services) -> SearchResults:
    started = time.perf_counter()
    async with services.resources.searching.slot():
        # One search, whoever reads what it finds.
        found = await run_in_threadpool(retrieve, services.index, AnswerRequest.model_validate(dict(body)))
    return SearchResults(
        passages=found.passages,
        nothing_found=found.nothing_found,
        collection=body.collection,
        retriever=body.retriever,
        index_generation=found.generation,
        index_revision=found.revision,
        search_ms=round((time.perf_counter() - started) * 1000, 3),
    )
