"""What becomes known of a request while it is worked on: for its line in the log, the metrics and the engine.

A context variable, as for the caller: tasks and threads that work for the request fill in the same record.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from app.chat.arms import arm_of
from app.schemas.answer import Answer

UNMATCHED = "unmatched"
"""The route of a request that none takes."""


@dataclass
class RequestRecord:
    """One request. It holds no text of questions, passages or answers, and no secret."""

    id: str = ""
    """Comes back as `x-request-id`, and goes to the engine."""
    method: str = ""
    route: str = UNMATCHED
    """The template of its path, such as `/v1/documents/{document_id}`."""
    status: int = 0
    """0 while no answer has begun."""
    seconds: float = 0.0
    """How long it took, to the end of its answer."""
    key: str | None = None
    """The name of the caller's key; None where nobody knows it."""
    trace_headers: dict[str, str] = field(default_factory=dict)
    """`traceparent` and `tracestate` for the engine, where the request belongs to a trace."""
    answered: dict[str, object] = field(default_factory=dict)
    """How it was answered: arm, checkpoint, collection, state of the index, tokens."""
    problem: str | None = None
    """What the request failed of, such as `overloaded`."""
    is_cancelled: bool = False
    """Whether the client left before its answer was there."""

    @property
    def engine_headers(self) -> dict[str, str]:
        """What the engine is told of the request, so that its log and its spans can be found."""
        return {"x-request-id": self.id, **self.trace_headers} if self.id else {}

    @property
    def trace_id(self) -> str | None:
        """The id of the trace that the request belongs to."""
        parent = self.trace_headers.get("traceparent")
        return parent.split("-")[1] if parent else None

    def fields(self) -> dict[str, object]:
        """Return what the log says of the request."""
        return {
            "request_id": self.id,
            "trace_id": self.trace_id,
            "key": self.key,
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "ms": round(self.seconds * 1000, 1),
            "problem": self.problem,
            "cancelled": self.is_cancelled or None,
            **self.answered,
        }

    def take(self, answer: Answer) -> None:
        """Note how the request was answered."""
        self.answered = {
            "arm": arm_of(answer.retriever),
            "checkpoint": answer.checkpoint,
            "collection": answer.collection,
            "index_generation": answer.index_generation,
            "index_revision": answer.index_revision,
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.completion_tokens,
            "nothing_found": answer.nothing_found,
        }


_current: ContextVar[RequestRecord | None] = ContextVar("record", default=None)


def current_record() -> RequestRecord:
    """Return the record of the request that is worked on; outside of any, one that nobody reads."""
    return _current.get() or RequestRecord()


@contextmanager
def recording(record: RequestRecord) -> Iterator[RequestRecord]:
    """Work for a request within the block."""
    token = _current.set(record)
    try:
        yield record
    finally:
        _current.reset(token)
