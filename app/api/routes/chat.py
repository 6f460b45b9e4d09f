"""`POST /v1/chat/completions` and `GET /v1/models`, in OpenAI's form."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from app.api.deps import ServicesDep
from app.api.disconnects import while_connected
from app.api.event_stream import EventStream
from app.api.openai_errors import body_of, document_openai
from app.chat.arms import Arm, find_arm
from app.chat.completion import Writer, question_of
from app.chat.request import ChatRequest
from app.schemas.problem import Problem

router = APIRouter(prefix="/v1", tags=["openai"])

COMPLETION = {
    "id": "chatcmpl-5f3c",
    "object": "chat.completion",
    "created": 1790000000,
    "model": "openbook/rag",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Orla Venn", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 90, "completion_tokens": 3, "total_tokens": 93},
    "openbook": {"checkpoint": "…", "citations": [], "passages": []},
}
CHUNKS = """\
data: {"id": "chatcmpl-5f3c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, …}], …}

data: {"id": "chatcmpl-5f3c", "choices": [{"index": 0, "delta": {"content": "Orla Venn"}, …}], …}

data: {"id": "chatcmpl-5f3c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "openbook": {…}, …}

data: [DONE]

"""
ModelName = Annotated[str, Path(description="The arm.", openapi_examples={"rag": {"value": "openbook/rag"}})]
MODEL = {"id": "openbook/rag", "object": "model", "created": 1790000000, "owned_by": "openbook"}


def _documented(description: str, content: dict[str, Any], *errors: int) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": content}, **document_openai(*errors)}


def _object(example: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": {"type": "object"}, "example": example}}


@router.post(
    "/chat/completions",
    response_class=Response,
    responses=_documented(
        "The answer, with its evidence in `openbook`; with `stream`, chunks whose last one carries it.",
        {**_object(COMPLETION), "text/event-stream": {"example": CHUNKS}},
        *(400, 404, 429, 502, 503, 504),
    ),
)
async def complete(request: Request, body: ChatRequest, services: ServicesDep) -> Response:
    """Answer the last message of a conversation with an arm, for any client of OpenAI's API.

    The last message, the user's, is the question that passages are retrieved for; earlier turns stand before it in the
    prompt, as many as fit. What a system message says is added to the prompt's own instruction.
    """
    arm = find_arm(body.model, services.arms)
    services.require_engine(arm.checkpoint)
    try:
        question = question_of(body, arm)
    except ValidationError as error:
        raise RequestValidationError([{**entry, "loc": ("body", *entry["loc"])} for entry in error.errors()]) from error
    writer = Writer(arm, include_usage=body.stream_options is not None and body.stream_options.include_usage)
    if body.stream:
        return EventStream(writer.frames(services.answerer.stream(question)), _error_frame, services.heartbeat_s)
    answer = await while_connected(request.receive, services.answerer.answer(question))
    return _json(writer.whole(answer))


@router.get(
    "/models",
    response_class=Response,
    responses=_documented("Every arm; the first is the default.", _object({"object": "list", "data": [MODEL]})),
)
async def list_models(services: ServicesDep) -> Response:
    """List the arms: `openbook/NAME` with the checkpoint being served, `CHECKPOINT/NAME` with exactly that one."""
    return _json({"object": "list", "data": [_model(arm, services) for arm in services.arms]})


@router.get("/models/{model:path}", response_class=Response, responses=_documented("The arm.", _object(MODEL), 404))
async def show_model(model: ModelName, services: ServicesDep) -> Response:
    """Return one arm."""
    return _json(_model(find_arm(model, services.arms), services))


def _model(arm: Arm, services: ServicesDep) -> dict[str, Any]:
    return {
        "id": arm.name,
        "object": "model",
        "created": services.started,
        "owned_by": "openbook",
        "openbook": {
            "checkpoint": arm.checkpoint or services.checkpoint,
            "retriever": arm.retriever,
            "default": arm == services.arms[0],
        },
    }


def _json(value: dict[str, Any]) -> Response:
    return Response(json.dumps(value, ensure_ascii=False), media_type="application/json")


def _error_frame(problem: Problem) -> bytes:
    return f"data: {json.dumps(body_of(problem))}\n\n".encode()
