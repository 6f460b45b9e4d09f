"""`POST /v1/answers` and `POST /v1/prompts`."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.api.deps import ServicesDep
from app.api.disconnects import while_connected
from app.api.problems import document
from app.schemas import Answer, AnswerRequest, Prompt, Schema

router = APIRouter(prefix="/v1", tags=["answers"])


@router.post("/answers", response_model=Answer, responses=document(400, 404, 422, 502, 503))
async def answer(request: Request, body: AnswerRequest, services: ServicesDep) -> Response:
    """Answer a question from the documents of a collection.

    `{"question": "Who keeps the lighthouse?"}` is enough; every other field has a default.
    """
    services.require_engine()
    return _json(await while_connected(request, services.answerer.answer(body)))


@router.post("/prompts", response_model=Prompt, responses=document(400, 404, 422, 503))
async def prompt(request: Request, body: AnswerRequest, services: ServicesDep) -> Response:
    """Return the final prompt of a question, as the engine would get it, without generating."""
    return _json(await while_connected(request, services.answerer.prompt(body)))


def _json(value: Schema) -> Response:
    # FastAPI would validate and dump the value once more; it is a valid model already.
    return Response(value.model_dump_json(), media_type="application/json")
