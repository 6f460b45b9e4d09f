"""A value of the contract as a response, written once."""

from __future__ import annotations

from fastapi import Response

from app.schemas.schema import Schema


def json_of(value: Schema) -> Response:
    """Return the response. FastAPI would validate and dump the value once more; it is a valid model already."""
    return Response(value.model_dump_json(), media_type="application/json")
