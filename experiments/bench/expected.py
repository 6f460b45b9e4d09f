"""What a store should hold while it is changed: for each document, which texts may be current at which time.

A change takes effect at some moment between its request and the end of its job. A text may therefore be returned from
the request that brings it until the end of the change that takes it away, and must be found from the end of the former
to the request of the latter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class State:
    """One state of a document. Times are those of the clock, in seconds."""

    text: str | None
    """None where it is deleted, or was not there yet."""
    may_begin: float
    has_begun: float = math.inf
    may_end: float = math.inf
    has_ended: float = math.inf


class Expected:
    """The states of every document."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with an empty store."""
        self.clock = clock
        self._states: dict[str, list[State]] = {}

    def current(self, document_id: str) -> str | None:
        """Return the text that the last change asked for."""
        states = self._states.get(document_id)
        return states[-1].text if states else None

    def begin(self, document_id: str, text: str | None) -> None:
        """Note that a change is asked for; the one before it must be done."""
        now = self.clock()
        states = self._states.setdefault(document_id, [State(None, -math.inf, -math.inf)])
        states[-1].may_end = now
        states.append(State(text, now))

    def done(self, document_id: str) -> None:
        """Note that the change has taken effect."""
        before, after = self._states[document_id][-2:]
        before.has_ended = after.has_begun = self.clock()

    def is_stale(self, document_id: str, quote: str, start: int, asked: float, answered: float) -> bool:
        """Say whether a span of a document was in none of the texts that may have been current in the meantime."""
        return not any(
            state.text is not None
            and state.may_begin <= answered
            and state.has_ended >= asked
            and state.text[start : start + len(quote)] == quote
            for state in self._states.get(document_id, ())
        )

    def must_be_found(self, document_id: str, asked: float, answered: float) -> bool:
        """Say whether one and the same text of a document was current all the time."""
        return any(
            state.text is not None and state.has_begun <= asked and answered <= state.may_end
            for state in self._states.get(document_id, ())
        )
