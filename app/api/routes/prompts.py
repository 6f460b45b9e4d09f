"""`POST /v1/prompts`, the final prompt of a question, and `GET /v1/prompts`, the templates that there are."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.api.deps import ServicesDep
from app.api.disconnects import while_connected
from app.api.json_response import json_of
from app.api.problems import document
from app.schemas.answer import AnswerRequest
from app.schemas.prompt import Prompt
from app.schemas.template import TemplateList

router = APIRouter(prefix="/v1", tags=["prompts"])


@router.post("/prompts", response_model=Prompt, responses=document(400, 404, 422, 503, 504))
async def prompt(request: Request, body: AnswerRequest, services: ServicesDep) -> Response:
    """Return the final prompt of a question, as the engine would get it, without generating."""
    return json_of(await while_connected(request.receive, services.answerer.prompt(body)))


@router.get("/prompts")
async def list_prompts(services: ServicesDep) -> TemplateList:
    """List the templates, each with its hash: those that come with Openbook and those of `--prompts`."""
    return TemplateList(prompts=tuple(services.answerer.templates()))
