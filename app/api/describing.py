"""The OpenAPI document: what FastAPI knows of the routes, and what the layers around them add."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.authentication import OPEN, scope_needed
from app.api.openai_errors import document_openai, speaks_openai
from app.api.problems import document
from app.schemas.problem import Problem

BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key of `openbook keys create`. A server without keys asks for none.",
}


def described(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an app; it is made once."""
    if app.openapi_schema is None:
        whole = get_openapi(title=app.title, version=app.version, routes=app.routes)
        components = whole["components"]
        components["schemas"]["Problem"] = Problem.model_json_schema()
        components["securitySchemes"] = {"bearer": BEARER}
        for path, operations in whole["paths"].items():
            for method, operation in operations.items():
                if path not in OPEN:
                    _describe_layers(path, method, operation)
        app.openapi_schema = whole
    return app.openapi_schema


def _describe_layers(path: str, method: str, operation: dict[str, Any]) -> None:
    statuses = [401, 403, 429, 503] if method == "get" else [401, 403, 413, 429, 503]
    errors = document_openai if speaks_openai(path) else document
    for status, response in errors(*statuses).items():
        operation["responses"].setdefault(str(status), response)
    operation["security"] = [{"bearer": []}]
    operation["x-scope"] = scope_needed(method.upper(), path)
