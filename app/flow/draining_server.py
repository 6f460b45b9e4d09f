"""The HTTP server of `openbook serve`: uvicorn, which drains on SIGTERM."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

import uvicorn

from app.flow.drain import Drain

CUT_SECONDS = 1
"""How long what is left after the drain may take to end."""


class DrainingServer(uvicorn.Server):
    """Goes on listening while it drains, so that whoever comes is told to go elsewhere rather than left without answer.

    A second SIGTERM, or Ctrl-C, ends it without waiting.
    """

    def __init__(self, app: Any, drain: Drain, shutdown_seconds: int) -> None:
        """Take an ASGI app, its drain, and how long requests may go on after Ctrl-C."""
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="on",
                timeout_graceful_shutdown=shutdown_seconds,
            )
        )
        self._drain = drain

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain, or end."""
        if sig == signal.SIGTERM and not self._drain.has_begun:
            self._drain.begin()
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Say whether the server is to end; asked ten times a second."""
        if self._drain.is_over:
            self.config.timeout_graceful_shutdown = CUT_SECONDS
            self.should_exit = True
        return await super().on_tick(counter)
