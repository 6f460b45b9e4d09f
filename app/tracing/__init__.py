"""Traces over retrieval and engine, for those who collect them with OpenTelemetry.

Off unless an endpoint is set, and then nothing of OpenTelemetry is imported: what stands here needs the standard
library alone. `app/tracing/otlp.py` is the door to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol

VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Where OpenTelemetry's own settings name the endpoint."""


class Trace(Protocol):
    """The spans of one request."""

    def span(self, name: str) -> AbstractContextManager[None]:
        """Have a span last as long as the block."""

    def past(self, name: str, seconds: float, ended_ago: float) -> None:
        """Add a span of so many seconds that ended so many seconds ago."""


class Tracing(Protocol):
    """Makes the traces of an app."""

    def request(
        self, name: Callable[[], str], headers: dict[str, str], described: Callable[[], Mapping[str, object]]
    ) -> AbstractContextManager[Trace]:
        """Have the span of a request last as long as the block.

        Args:
            name: Gives its name when it ends.
            headers: `traceparent` and `tracestate` of the client; from then on those for the engine.
            described: Gives, when it ends, what became known of the request.
        """

    def close(self) -> None:
        """Send what has not been sent yet."""


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)
_nothing = nullcontext()


def endpoint_of(setting: str | None) -> str | None:
    """Return where traces are sent: what the setting says, or OpenTelemetry's own variables; None for nowhere."""
    return setting or next((value for name in VARIABLES if (value := os.environ.get(name))), None)


def open_tracing(setting: str | None) -> Tracing | None:
    """Return what makes the traces; None where they are off."""
    if (endpoint := endpoint_of(setting)) is None:
        return None
    from app.tracing.otlp import OtlpTracing

    return OtlpTracing(endpoint)


@contextmanager
def tracing_in(trace: Trace) -> Iterator[None]:
    """Have the spans of the block belong to a trace; tasks and threads that work for it inherit it."""
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)


def span(name: str) -> AbstractContextManager[None]:
    """Have a span last as long as the block, where the request is traced."""
    trace = _current.get()
    return _nothing if trace is None else trace.span(name)


def past(name: str, seconds: float, ended_ago: float = 0.0) -> None:
    """Add a span of so many seconds that ended so many seconds ago, where the request is traced."""
    if (trace := _current.get()) is not None:
        trace.past(name, seconds, ended_ago)
