"""A client that has gone waits for nothing: its work is cancelled, and with it the engine's."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from app.errors import ClientGone
from app.telemetry import current_record

Result = TypeVar("Result")


async def while_connected(receive: Receive, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of `work`, or cancel it when the client closes the connection.

    Cancelling closes the connection to the engine; vLLM then aborts the generation.

    Args:
        receive: The request's channel, whose body has been read.
        work: What to do meanwhile.

    Raises:
        ClientGone: The client closed the connection first.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        current_record().is_cancelled = True
        raise ClientGone("The client closed the connection.")
    finally:
        leaving.cancel()
        working.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
