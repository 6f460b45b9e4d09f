"""How long a question may take altogether: waiting, searching and generating."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.errors import DeadlineExceeded, TimeoutTooLong


@asynccontextmanager
async def deadline(most_s: float, wanted_s: float | None = None) -> AsyncIterator[None]:
    """Cancel the block when its time is over.

    Args:
        most_s: What the server gives.
        wanted_s: What the request wants; None takes all of it.

    Raises:
        DeadlineExceeded: The time was over.
        TimeoutTooLong: The request wants more than the server gives.
    """
    if wanted_s is not None and wanted_s > most_s:
        raise TimeoutTooLong(
            f"timeout_s is {wanted_s:g}, and this server gives a question {most_s:g} s at most. Ask for less time, or "
            "start the server with a larger OPENBOOK_DEADLINE_S."
        )
    seconds = most_s if wanted_s is None else wanted_s
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise DeadlineExceeded(
            f"There was no answer within {seconds:g} s. Ask for fewer tokens (decoding.max_tokens) or passages "
            "(top_k), allow more with timeout_s, or try again when the server has less to do."
        ) from error
