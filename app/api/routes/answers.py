"""`POST /v1/answers`, whole or as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response

from app.api.deps import ServicesDep
from app.api.disconnects import while_connected
from app.api.event_stream import EventStream
from app.api.json_response import json_of
from app.api.problems import document
from app.events import NAMES, Event
from app.schemas.answer import Answer, AnswerRequest
from app.schemas.problem import Problem

router = APIRouter(prefix="/v1", tags=["answers"])

EVENTS = """\
event: retrieval
data: {"id": "answer-5f3c…", "checkpoint": "…", "passages": [{"label": 1, …}], …}

event: token
data: {"text": "Orla"}

event: token
data: {"text": " Venn"}

event: citation
data: {"label": 1, "document_id": "lighthouse.md", "quote": "Orla Venn", …}

event: final
data: {"id": "answer-5f3c…", "answer": "Orla Venn", …}

"""
AS_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with `stream`, the events `retrieval`, `token`…, `citation`… and `final`, which "
        "holds the whole answer. An `error` event with a problem ends a stream that fails on its way.",
        "content": {"text/event-stream": {"example": EVENTS}},
    }
}


@router.post("/answers", response_model=Answer, responses={**AS_EVENTS, **document(400, 404, 422, 502, 503, 504)})
async def answer(request: Request, body: AnswerRequest, services: ServicesDep) -> Response:
    """Answer a question from the documents of a collection.

    `{"question": "Who keeps the lighthouse?"}` is enough; every other field has a default.
    """
    services.require_engine(body.checkpoint)
    if body.stream:
        return EventStream(_frames(services.answerer.stream(body)), _frame, services.heartbeat_s)
    return json_of(await while_connected(request.receive, services.answerer.answer(body)))


async def _frames(events: AsyncGenerator[Event, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(events):
        async for event in events:
            yield _frame(event)


def _frame(event: Event | Problem) -> bytes:
    """Return a server-sent event. JSON has no line breaks of its own, so its data is one line."""
    return f"event: {NAMES[type(event)]}\ndata: {event.model_dump_json()}\n\n".encode()
