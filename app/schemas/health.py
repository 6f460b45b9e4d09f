"""Whether the server lives, and what it serves."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.schemas.schema import Schema


class Health(Schema):
    """`GET /healthz`."""

    status: Literal["ok"] = "ok"


class Ready(Schema):
    """`GET /readyz` for those who show no key where the server has keys."""

    status: Literal["ready"] = "ready"


class Readiness(Schema):
    """`GET /readyz`: what is served. 503 with a problem where something is missing."""

    status: Literal["ready"] = "ready"
    checkpoint: str
    engine_url: str
    embedder: str
    collections: dict[str, int]
    """Collection to the generation of its published index."""
    revisions: dict[str, int] = Field(default_factory=dict)
    """Collection to the number of its commits, which are all searched: what an ingest returned as `revision`."""
