"""`Idempotency-Key`: a write that is sent twice happens once, and both get the same response.

After the draft of the IETF (draft-ietf-httpapi-idempotency-key-header). A response that says that it may be tried again
(5xx, 409, 425, 429) is not kept: the same key may then be used once more.
"""

from __future__ import annotations

import re

from fastapi import HTTPException
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.access.caller import Caller
from app.api.authentication import READING
from app.api.body_hash import BodyHash
from app.api.problems import error_response
from app.errors import BodyTooLarge, KeyMalformed
from app.jobs.replies import Finished, Replies, Reply
from corpus.errors import OpenbookError

WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?")
MOST_CONTENT = 1 << 20
"""A longer response is not kept; those to writes are short."""
TO_BE_TRIED_AGAIN = frozenset({409, 425, 429})


class Idempotency:
    """Answers a write that was answered before with the same response."""

    def __init__(self, app: ASGIApp, replies: Replies) -> None:
        """Wrap an ASGI app."""
        self._app = app
        self._replies = replies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or scope["method"] not in WRITING or scope["path"] in READING:
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if b"idempotency-key" not in headers:
            await self._app(scope, receive, send)
            return
        try:
            response = await self._handle(headers, scope, receive, send)
        except HTTPException as error:
            # Of the limit on bodies, from within `receive`; nothing else raises one here.
            response = error_response(BodyTooLarge(str(error.detail)), scope)
        except OpenbookError as error:
            response = error_response(error, scope)
        if response is not None:
            await response(scope, receive, send)

    async def _handle(self, headers: dict[bytes, bytes], scope: Scope, receive: Receive, send: Send) -> Response | None:
        """Return the earlier response, or send that of the route and return None."""
        key = _key(headers[b"idempotency-key"])
        caller: Caller = scope["state"]["caller"]
        query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        request = f"{scope['method']} {scope['path']}{query}"
        body = _Body(receive, BodyHash(headers.get(b"content-type", b"")))
        found = await run_in_threadpool(self._replies.begin, caller.id, key, request)
        if found is not None:
            await body.read_rest()
            return _again(found, body.hash.hexdigest())
        taken = _Taken(send)
        kept = False
        try:
            await self._app(scope, body.receive, taken.send)
            if taken.is_final:
                await body.read_rest()
                await run_in_threadpool(self._replies.finish, caller.id, key, body.hash.hexdigest(), taken.reply)
                kept = True
        finally:
            if not kept:
                await run_in_threadpool(self._replies.forget, caller.id, key)
        # Sent only now: whoever has the response may send the request again.
        await taken.release()
        return None


class _Body:
    """The body of a request on its way to the route."""

    def __init__(self, receive: Receive, hash_: BodyHash) -> None:
        self._receive = receive
        self._ended = False
        self.hash = hash_

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self.hash.update(message.get("body", b""))
            self._ended = not message.get("more_body", False)
        else:
            self._ended = True
        return message

    async def read_rest(self) -> None:
        while not self._ended:
            await self.receive()


class _Taken:
    """The response of a route, held back until it is kept."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._messages: list[Message] = []
        self._size = 0

    async def send(self, message: Message) -> None:
        self._messages.append(message)
        self._size += len(message.get("body", b""))

    async def release(self) -> None:
        for message in self._messages:
            await self._send(message)

    @property
    def is_final(self) -> bool:
        status = self.reply.status
        return status < 500 and status not in TO_BE_TRIED_AGAIN and self._size <= MOST_CONTENT

    @property
    def reply(self) -> Reply:
        start, *rest = self._messages
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"])
        return Reply(start["status"], headers, b"".join(message.get("body", b"") for message in rest))


def _again(found: Finished, body: str) -> Response:
    found.check_body(body)
    response = Response(found.reply.content, found.reply.status)
    response.raw_headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in found.reply.headers]
    response.headers["idempotent-replayed"] = "true"
    return response


def _key(value: bytes) -> str:
    text = value.decode("latin-1")
    if not KEY.fullmatch(text):
        raise KeyMalformed("An Idempotency-Key has 1 to 255 printable ASCII characters, such as a UUID.")
    return text
