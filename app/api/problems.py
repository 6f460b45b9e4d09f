"""Errors as RFC 9457 describes them (`application/problem+json`): the one place where an exception becomes a status."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, cast, get_args, get_type_hints

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import Scope

import terminal
from app.api.openai_errors import body_of, speaks_openai, status_of
from app.errors import AppError
from app.schemas.problem import Problem
from app.telemetry import current_record
from corpus.errors import OpenbookError
from indexer.errors import EmbedderError, NotFound, SearchRefused, StoreError, StoreLocked

log = logging.getLogger(__name__)

LOCKED_RETRY_SECONDS = 5
MEDIA_TYPE = "application/problem+json"
INDEXER_STATUS: tuple[tuple[type[OpenbookError], int], ...] = (
    (NotFound, 404),
    (SearchRefused, 422),
    (StoreError, 503),
    (EmbedderError, 503),
)
"""The indexer knows nothing of HTTP; its errors get their status here."""


def install(app: FastAPI) -> None:
    """Register the handlers of an app."""
    app.add_exception_handler(OpenbookError, _on_openbook_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_exception)


def document(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of a route that may fail with these statuses."""
    schema = {"$ref": "#/components/schemas/Problem"}
    content = {MEDIA_TYPE: {"schema": schema}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    """Return a problem as a response, in OpenAI's form on the paths that its clients know."""
    note_problem(problem)
    if speaks_openai(problem.instance):
        content = json.dumps(body_of(problem))
        return Response(content, status_of(problem), media_type="application/json", headers=headers)
    body = problem.model_dump_json(exclude_none=True)
    return Response(body, problem.status, media_type=MEDIA_TYPE, headers=headers)


def note_problem(problem: Problem) -> None:
    """Note in the request's record what it failed of: `overloaded`, or the status where the problem has no name."""
    current_record().problem = problem.type.rpartition(":")[2] if problem.type.startswith("urn:") else problem.title


def error_response(error: OpenbookError, scope: Scope) -> Response:
    """Return the response to a request that an error ended."""
    problem = problem_of(error, scope["path"], scope["state"]["request_id"])
    return problem_response(problem, _headers(error))


def _headers(error: OpenbookError) -> dict[str, str] | None:
    if isinstance(error, StoreLocked):
        return {"retry-after": str(LOCKED_RETRY_SECONDS)}
    return error.headers if isinstance(error, AppError) else None


def internal_error(path: str, request_id: str) -> Problem:
    """Return the problem for an error that nobody foresaw; its cause is in the server's log alone."""
    detail = f"An unexpected error. The server's log has it under the request id {request_id}."
    title = HTTPStatus.INTERNAL_SERVER_ERROR.phrase
    return Problem(title=title, status=500, detail=detail, instance=path, request_id=request_id)


def problem_of(error: OpenbookError, path: str, request_id: str) -> Problem:
    """Return the problem that an error is."""
    return Problem(
        type=f"urn:openbook:{_kebab(type(error).__name__)}",
        title=_spaced(type(error).__name__),
        status=_status(error),
        detail=str(error),
        instance=path,
        request_id=request_id,
    )


async def _on_openbook_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, OpenbookError)
    return error_response(error, request.scope)


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    detail = str(error.detail)
    if detail == phrase:
        detail = f"{phrase}: {request.method} {request.url.path}. /openapi.json lists what there is."
    problem = Problem(
        title=phrase,
        status=error.status_code,
        detail=detail,
        instance=request.url.path,
        request_id=request.state.request_id,
    )
    return problem_response(problem, dict(error.headers or {}))


async def _on_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    model = _request_model(request)
    errors = [_describe(entry, model) for entry in error.errors()]
    is_json = all(entry["type"] != "json_invalid" for entry in error.errors())
    problem = Problem(
        type="urn:openbook:invalid-request",
        title="Invalid request",
        status=422 if is_json else 400,
        detail="; ".join(f"{entry['field']}: {entry['message']}" for entry in errors),
        instance=request.url.path,
        request_id=request.state.request_id,
        errors=errors,
    )
    return problem_response(problem)


def _status(error: OpenbookError) -> int:
    if isinstance(error, AppError):
        return error.status
    return next((status for kind, status in INDEXER_STATUS if isinstance(error, kind)), 500)


def _request_model(request: Request) -> type[BaseModel] | None:
    """Return the model that the route reads its input into."""
    if read_into := getattr(request.state, "model", None):
        # A body that the route reads itself.
        return cast(type[BaseModel], read_into)
    endpoint = getattr(request.scope.get("route"), "endpoint", None)
    hints = get_type_hints(endpoint) if endpoint else {}
    models = (hint for name, hint in hints.items() if name != "return" and isinstance(hint, type))
    return next((model for model in models if issubclass(model, BaseModel)), None)


def _describe(entry: dict[str, Any], model: type[BaseModel] | None) -> dict[str, object]:
    """Return field path and message of one validation error, with the nearest name for an unknown field."""
    where, *path = entry["loc"]
    if entry["type"] == "json_invalid":
        reason = entry.get("ctx", {}).get("error", "")
        return {"field": str(where), "message": f"not valid JSON at character {path[0]}: {reason}"}
    field = ".".join(str(part) for part in path) or str(where)
    message = str(entry["msg"]).removeprefix("Value error, ")
    if entry["type"] == "extra_forbidden":
        known = _fields(model, path[:-1])
        message = f"unknown field.{terminal.did_you_mean(str(path[-1]), known)} Known: {', '.join(known)}"
    return {"field": field, "message": message}


def _fields(model: type[BaseModel] | None, path: Sequence[str | int]) -> list[str]:
    """Return the field names of the model that lies at `path` inside `model`; a number is a place in a list."""
    for part in path:
        if isinstance(part, str):
            annotation = model.model_fields[part].annotation if model and part in model.model_fields else None
            model = next(_models(annotation), None)
    return list(model.model_fields) if model else []


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that an annotation such as `Model | None` or `tuple[Model, ...]` names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _words(name: str) -> Iterable[str]:
    return re.findall(r"[A-Z][a-z]*", name)


def _kebab(name: str) -> str:
    return "-".join(_words(name)).lower()


def _spaced(name: str) -> str:
    return " ".join(_words(name)).capitalize()
