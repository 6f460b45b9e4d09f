"""Around every request: its id, how long it took, and a last resort for errors that nobody foresaw."""

from __future__ import annotations

import logging
import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import internal_error, problem_response
from app.telemetry import Telemetry

log = logging.getLogger(__name__)

REQUEST_ID = re.compile(r"[\w.:-]{1,128}")


class RequestObserver:
    """Gives each request an id, which comes back as `x-request-id`, and counts it."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        """Wrap an ASGI app."""
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = request_id
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Exception:
            log.exception("Request %s (%s %s) failed", request_id, scope["method"], scope["path"])
            if status:
                raise
            problem = internal_error(scope["path"], request_id)
            await problem_response(problem)(scope, receive, send_with_id)
        finally:
            route = getattr(scope.get("route"), "path", "unmatched")
            self._telemetry.requested(route, scope["method"], status, time.perf_counter() - started)


def _request_id(scope: Scope) -> str:
    """Return the client's request id where it is a harmless one, else a new one."""
    given = Headers(scope=scope).get("x-request-id", "")
    return given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
