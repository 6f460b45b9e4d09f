"""No request makes the server read more than it is told to."""

from __future__ import annotations

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import error_response
from app.errors import BodyTooLarge

UPLOADS = "/v1/documents"


class BodyLimit:
    """Refuses with 413 a body that is too large: by its declared length before any of it is read, else by counting."""

    def __init__(self, app: ASGIApp, most_bytes: int, most_uploaded_bytes: int) -> None:
        """Wrap an ASGI app.

        Args:
            app: What is wrapped.
            most_bytes: Of a body that is read whole.
            most_uploaded_bytes: Of files that are uploaded, which are not.
        """
        self._app = app
        self._most = most_bytes
        self._most_uploaded = most_uploaded_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = _declared(scope)
        uploads = is_upload(scope)
        most = self._most_uploaded if uploads else self._most
        error = _too_large(most, "OPENBOOK_MAX_UPLOAD_MIB" if uploads else "OPENBOOK_MAX_BODY_KIB")
        if declared is None:
            await self._app(scope, _counting(receive, most, error), send)
        elif declared > most:
            await error_response(error, scope)(scope, receive, send)
        else:
            # The HTTP parser reads no more than was declared.
            await self._app(scope, receive, send)


def is_upload(scope: Scope) -> bool:
    """Say whether a request uploads files: its body goes to disk piece by piece."""
    kind: bytes = dict(scope["headers"]).get(b"content-type", b"")
    return bool(scope["path"] == UPLOADS) and kind.lower().startswith(b"multipart/form-data")


def _counting(receive: Receive, most: int, error: BodyTooLarge) -> Receive:
    read = 0

    async def receive_so_much() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            # The one kind of exception that FastAPI lets through while it reads a body.
            raise HTTPException(error.status, str(error), error.headers)
        return message

    return receive_so_much


def _too_large(most: int, variable: str) -> BodyTooLarge:
    return BodyTooLarge(
        f"The body of this request may have {most:,} bytes. Send less, or start the server with a larger {variable}."
    )


def _declared(scope: Scope) -> int | None:
    """Return the length that the request declares; 0 where it has no body, None where its length is not known."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return None
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else None
