"""How often each key, or without keys each address, may call."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.access.caller import Caller
from app.api.authentication import OPEN
from app.api.problems import error_response
from app.errors import RateLimited
from app.flow.buckets import Buckets


class RateLimiter:
    """Refuses with 429 what comes too fast, and tells every caller how much is left."""

    def __init__(self, app: ASGIApp, per_minute: int | None) -> None:
        """Wrap an ASGI app; None limits only keys that have a limit of their own."""
        self._app = app
        self._per_minute = per_minute
        self._buckets = Buckets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        caller: Caller = scope["state"]["caller"]
        per_minute = caller.requests_per_minute or self._per_minute
        if per_minute is None:
            await self._app(scope, receive, send)
            return
        taken = self._buckets.take(caller.id or _address(scope), per_minute)

        async def send_with_limits(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["ratelimit-limit"] = str(taken.limit)
                headers["ratelimit-remaining"] = str(taken.remaining)
                headers["ratelimit-reset"] = str(taken.reset_s)
            await send(message)

        if taken.allowed:
            await self._app(scope, receive, send_with_limits)
            return
        who = f"The key {caller.name!r}" if caller.is_known else "This address"
        error = RateLimited(
            f"{who} may send {per_minute} requests a minute. Try again in {taken.retry_after_s} s.", taken.retry_after_s
        )
        await error_response(error, scope)(scope, receive, send_with_limits)


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"from {client[0]}" if client else "from somewhere"
