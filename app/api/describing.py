"""The OpenAPI document: what FastAPI knows of the routes, and what the layers around them add."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.authentication import OPEN, READING, scope_needed
from app.api.openai_errors import document_openai, speaks_openai
from app.api.problems import document
from app.schemas.problem import Problem
from app.schemas.upload import DocumentUpload

BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key of `openbook keys create`. A server without keys asks for none.",
}

IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Under which the response is kept for 24 hours: the same request with the same key gets the same "
    "response, and happens once. 422 with another body, 409 while the first is under way.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]([ -~]*[!-~])?$"},
}


def described(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an app; it is made once."""
    if app.openapi_schema is None:
        whole = get_openapi(title=app.title, version=app.version, routes=app.routes)
        components = whole["components"]
        for schema in (Problem, DocumentUpload):
            components["schemas"][schema.__name__] = schema.model_json_schema()
        components["securitySchemes"] = {"bearer": BEARER}
        for path, operations in whole["paths"].items():
            for method, operation in operations.items():
                if method in ("post", "delete") and path not in READING:
                    operation.setdefault("parameters", []).append(IDEMPOTENCY_KEY)
                _describe_refusals(path, operation)
                if path not in OPEN:
                    _describe_layers(path, method, operation)
        for unused in ("HTTPValidationError", "ValidationError"):
            components["schemas"].pop(unused, None)
        app.openapi_schema = whole
    return app.openapi_schema


def _describe_refusals(path: str, operation: dict[str, Any]) -> None:
    """Put our form of a refused request in the place of FastAPI's own, which is never sent."""
    if "application/json" in operation["responses"].get("422", {}).get("content", {}):
        del operation["responses"]["422"]
        status = 400 if speaks_openai(path) else 422
        errors = document_openai if speaks_openai(path) else document
        operation["responses"].setdefault(str(status), errors(status)[status])


def _describe_layers(path: str, method: str, operation: dict[str, Any]) -> None:
    statuses = [401, 403, 429, 503] if method == "get" else [401, 403, 413, 429, 503]
    if method != "get" and path not in READING:
        statuses += [400, 409, 422]
    errors = document_openai if speaks_openai(path) else document
    for status, response in errors(*statuses).items():
        operation["responses"].setdefault(str(status), response)
    operation["security"] = [{"bearer": []}]
    operation["x-scope"] = scope_needed(method.upper(), path)
