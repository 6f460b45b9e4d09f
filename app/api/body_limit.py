"""No request makes the server read more than it is told to."""

from __future__ import annotations

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import error_response
from app.errors import BodyTooLarge


class BodyLimit:
    """Refuses with 413 a body that is too large: by its declared length before any of it is read, else by counting."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        """Wrap an ASGI app."""
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = _declared(scope)
        if declared is None:
            await self._app(scope, self._counting(receive), send)
        elif declared > self._most:
            await error_response(self._error(), scope)(scope, receive, send)
        else:
            # The HTTP parser reads no more than was declared.
            await self._app(scope, receive, send)

    def _counting(self, receive: Receive) -> Receive:
        read = 0

        async def receive_so_much() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                error = self._error()
                # The one kind of exception that FastAPI lets through while it reads a body.
                raise HTTPException(error.status, str(error), error.headers)
            return message

        return receive_so_much

    def _error(self) -> BodyTooLarge:
        return BodyTooLarge(
            f"The body of a request may have {self._most:,} bytes. Send less, or start the server with a larger "
            "OPENBOOK_MAX_BODY_KIB."
        )


def _declared(scope: Scope) -> int | None:
    """Return the length that the request declares; 0 where it has no body, None where its length is not known."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return None
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else None
