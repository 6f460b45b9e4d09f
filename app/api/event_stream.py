"""A response of server-sent events that ends its work when the client leaves.

Starlette's own streaming response can abandon the iterator behind it without closing it, and the engine goes on writing
for nobody. Here a task of its own runs the iterator and is cancelled whatever happens. It never waits for the client,
so that one who reads slowly holds no place among the questions being answered.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.api.disconnects import while_connected
from app.api.problems import internal_error, note_problem, problem_of
from app.errors import ClientGone
from app.schemas.problem import Problem
from corpus.errors import OpenbookError

log = logging.getLogger(__name__)

HEARTBEAT = b": still here\n\n"
HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
"""Neither a cache nor nginx may hold events back."""


class EventStream(Response):
    """Sends the frames of an iterator as they come.

    What goes wrong before the first frame is raised, and becomes a status like any other error; afterwards it is the
    last frame.
    """

    media_type = "text/event-stream"

    def __init__(
        self, frames: AsyncGenerator[bytes, None], error_frame: Callable[[Problem], bytes], heartbeat_s: float
    ) -> None:
        """Take the frames, what writes an error as a frame, and the longest silence in seconds."""
        self.status_code = 200
        self.background = None
        self.init_headers(HEADERS)
        self._frames = frames
        self._error_frame = error_frame
        self._heartbeat_s = heartbeat_s
        self._started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything, or stop when the client leaves."""
        try:
            await while_connected(receive, self._relay(scope, send))
        except ClientGone:
            if not self._started:
                raise

    async def _relay(self, scope: Scope, send: Send) -> None:
        queue: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        filling = asyncio.ensure_future(_fill(queue, self._frames))
        try:
            item = await queue.get()
            if isinstance(item, Exception):
                raise item
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            self._started = True
            while item is not None:
                frame = self._failed(scope, item) if isinstance(item, Exception) else item
                await send({"type": "http.response.body", "body": frame, "more_body": True})
                item = await self._next(queue)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            filling.cancel()
            with suppress(asyncio.CancelledError):
                await filling

    async def _next(self, queue: asyncio.Queue[bytes | Exception | None]) -> bytes | Exception | None:
        try:
            async with asyncio.timeout(self._heartbeat_s):
                return await queue.get()
        except TimeoutError:
            return HEARTBEAT

    def _failed(self, scope: Scope, error: Exception) -> bytes:
        path, request_id = scope["path"], scope["state"]["request_id"]
        if isinstance(error, OpenbookError):
            problem = problem_of(error, path, request_id)
        else:
            log.error("Request %s (%s %r) failed", request_id, scope["method"], path, exc_info=error)
            problem = internal_error(path, request_id)
        note_problem(problem)
        return self._error_frame(problem)


async def _fill(queue: asyncio.Queue[bytes | Exception | None], frames: AsyncGenerator[bytes, None]) -> None:
    """Put every frame into the queue, then what went wrong, if anything did, and None at the end."""
    try:
        async with aclosing(frames):
            async for frame in frames:
                queue.put_nowait(frame)
    except Exception as error:
        queue.put_nowait(error)
    queue.put_nowait(None)
