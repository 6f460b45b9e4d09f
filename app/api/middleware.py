"""What stands between a connection and the routes, from the outside in.

Plain ASGI, because Starlette's base class for middleware costs a task per request and hides a client's disconnect; and
little of it, because the engine needs the processor.
"""

from __future__ import annotations

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from app.access.live_keys import LiveKeys
from app.api.authentication import Authenticator
from app.api.body_limit import BodyLimit
from app.api.draining import DrainGate
from app.api.idempotency import Idempotency
from app.api.observing import RequestObserver
from app.api.rate_limits import RateLimiter
from app.api.security_headers import SecurityHeaders
from app.flow.drain import Drain
from app.jobs.replies import Replies
from app.settings import Settings
from app.telemetry import Telemetry

EXPOSED = [
    "x-request-id",
    "retry-after",
    "location",
    "idempotent-replayed",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
]
"""Headers that a page of an allowed origin may read."""


def install(
    app: FastAPI, settings: Settings, telemetry: Telemetry, keys: LiveKeys, drain: Drain, *, replies: Replies
) -> None:
    """Put the layers around an app. The last one added is the outermost."""
    app.add_middleware(Idempotency, replies=replies)
    app.add_middleware(
        BodyLimit, most_bytes=settings.max_body_kib << 10, most_uploaded_bytes=settings.max_upload_mib << 20
    )
    app.add_middleware(RateLimiter, per_minute=settings.requests_per_minute)
    app.add_middleware(Authenticator, keys=keys, local_only=not settings.insecure, allowed_origins=settings.cors_origin)
    app.add_middleware(DrainGate, drain=drain)
    if settings.cors_origin:
        # Outside the authenticator: a browser asks without a key whether it may ask with one.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origin,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["authorization", "content-type", "idempotency-key", "x-request-id", "traceparent"],
            expose_headers=EXPOSED,
        )
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestObserver, telemetry=telemetry)
