"""Errors, as RFC 9457 writes them."""

from __future__ import annotations

from pydantic import BaseModel


class Problem(BaseModel):
    """An error as RFC 9457 describes it (`application/problem+json`)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str | None = None
    request_id: str | None = None
    errors: list[dict[str, object]] | None = None
