"""Errors in OpenAI's form, for the paths that clients of OpenAI's API know; all others get RFC 9457's."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from app.schemas.problem import Problem

PATHS = ("/v1/chat/completions", "/v1/models")
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
CODES: dict[str, str | None] = {
    "urn:openbook:model-not-served": "model_not_found",
    "urn:openbook:prompt-too-long": "context_length_exceeded",
    "urn:openbook:invalid-request": "invalid_value",
    "about:blank": None,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}


def document_openai(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of a route that may fail with these statuses, in OpenAI's form."""
    content = {"application/json": {"schema": SCHEMA}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def speaks_openai(path: str | None) -> bool:
    """Say whether errors of a path take OpenAI's form."""
    return path is not None and any(path == known or path.startswith(f"{known}/") for known in PATHS)


def status_of(problem: Problem) -> int:
    """Return the status: OpenAI's API says 400 of every wrong request."""
    return 400 if problem.status == 422 else problem.status


def body_of(problem: Problem) -> dict[str, Any]:
    """Return a problem as `{"error": {message, type, param, code}}`."""
    first = problem.errors[0] if problem.errors else {}
    kind = TYPES.get(problem.status, "server_error" if problem.status >= 500 else "invalid_request_error")
    code = CODES.get(problem.type, problem.type.rpartition(":")[2].replace("-", "_"))
    if str(first.get("message", "")).startswith("unknown field"):
        code = "unknown_parameter"
    return {"error": {"message": problem.detail, "type": kind, "param": first.get("field"), "code": code}}
