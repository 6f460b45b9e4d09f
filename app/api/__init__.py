"""The REST API: its routers, one file per noun. To add a route: a file in `routes/` and a line here."""

from __future__ import annotations

from typing import Any

from fastapi.routing import APIRoute

from app.api.routes import (
    answers,
    chat,
    checkpoints,
    collections,
    documents,
    experiments,
    health,
    jobs,
    metrics,
    prompts,
    rollouts,
    search,
)

ROUTERS = (
    answers.router,
    prompts.router,
    search.router,
    chat.router,
    documents.router,
    jobs.router,
    collections.router,
    checkpoints.router,
    rollouts.router,
    experiments.router,
    health.router,
    metrics.router,
)


def _operation_id(route: APIRoute) -> str:
    return route.name


DESCRIBED: dict[str, Any] = {
    "description": "Answers from your documents, with the evidence. Errors are problems as RFC 9457 describes them, or "
    "OpenAI's on OpenAI's paths; unknown fields are refused.",
    "generate_unique_id_function": _operation_id,
    "docs_url": None,
    "redoc_url": None,
}
"""What the OpenAPI document says of the whole. Operations are called what their functions are."""
