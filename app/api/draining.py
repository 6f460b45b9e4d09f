"""A server that ends takes nothing new, and knows what is still under way."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems import error_response
from app.errors import Draining
from app.flow.drain import Drain

STILL_ANSWERED = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked by those who watch the server, while it ends too. They do not keep it from ending."""


class DrainGate:
    """Refuses new requests with 503 once the drain has begun, and counts the others."""

    def __init__(self, app: ASGIApp, drain: Drain) -> None:
        """Wrap an ASGI app."""
        self._app = app
        self._drain = drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or scope["path"] in STILL_ANSWERED:
            await self._app(scope, receive, send)
            return
        if self._drain.has_begun:
            error = Draining("The server is ending and takes no new requests. Try again: another may take its place.")
            await error_response(error, scope)(scope, receive, send)
            return
        self._drain.under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._drain.under_way -= 1
