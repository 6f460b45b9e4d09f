"""Around every request: its id, its line in the log, its figures, and a last resort for errors that nobody foresaw."""

from __future__ import annotations

import logging
import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.access.caller import Caller
from app.api.draining import STILL_ANSWERED
from app.api.problems import internal_error, problem_response
from app.logs import access_log
from app.telemetry import RequestRecord, Telemetry, recording
from app.telemetry.record import UNMATCHED

log = logging.getLogger(__name__)

REQUEST_ID = re.compile(r"[\w.:-]{1,128}", re.ASCII)
TRACE_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
MOST_STATE = 512
"""Characters of a `tracestate` that is passed on."""


class RequestObserver:
    """Gives each request an id, which comes back as `x-request-id`, counts it and logs it."""

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
        record = _record(scope["method"], Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = record.id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = record.id
            await send(message)

        with recording(record), self._telemetry.traced(record):
            try:
                await self._app(scope, receive, send_with_id)
            except Exception:
                log.exception("Request %s (%s %r) failed", record.id, scope["method"], scope["path"])
                if record.status:
                    raise
                problem = internal_error(scope["path"], record.id)
                await problem_response(problem)(scope, receive, send_with_id)
            finally:
                _complete(record, scope, time.perf_counter() - started)
                self._telemetry.ended(record)
                _log(record)


def _complete(record: RequestRecord, scope: Scope, seconds: float) -> None:
    """Add to a record what is known at the end alone: the layers within have found route and caller."""
    caller: Caller | None = scope["state"].get("caller")
    record.route = getattr(scope.get("route"), "path", UNMATCHED)
    record.key = caller.name if caller else None
    record.seconds = seconds


def _log(record: RequestRecord) -> None:
    level = logging.WARNING if record.status >= 500 else logging.INFO
    level = logging.DEBUG if record.route in STILL_ANSWERED else level
    if access_log.isEnabledFor(level):
        access_log.log(level, "%s %s", record.method, record.route, extra={"fields": record.fields()})


def _record(method: str, headers: Headers) -> RequestRecord:
    """Begin a request's record: with the client's id and trace where these are harmless, else with an id of our own."""
    given = headers.get("x-request-id", "")
    id_ = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
    return RequestRecord(id_, method, trace_headers=_trace_headers(headers))


def _trace_headers(headers: Headers) -> dict[str, str]:
    """Return what says to which trace a request belongs (W3C Trace Context)."""
    parent, state = headers.get("traceparent", ""), headers.get("tracestate", "")
    if not TRACE_PARENT.fullmatch(parent):
        return {}
    return {"traceparent": parent, "tracestate": state} if 0 < len(state) <= MOST_STATE else {"traceparent": parent}
