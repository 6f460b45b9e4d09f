"""Who makes the request that is being worked on.

A context variable, because it reaches every task and thread that works for the request without passing through each
function between. Where nobody has said who calls, nobody does: a thread that was not given the context is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import TypeVar

from app.access.key import SCOPES, Key, ScopeName
from app.errors import CallerUnknown, Forbidden

Result = TypeVar("Result")


@dataclass(frozen=True)
class Caller:
    """What a request may do."""

    name: str
    """The name of its key."""
    id: str
    scopes: frozenset[ScopeName]
    collections: frozenset[str] | None
    """Those that it may use; None is all."""
    requests_per_minute: int | None = None
    is_known: bool = True
    """Whether a key was shown."""

    @classmethod
    def of(cls, key: Key) -> Caller:
        """Return the caller who shows a key."""
        collections = None if key.collections is None else frozenset(key.collections)
        scopes = frozenset(SCOPES if "admin" in key.scopes else key.scopes)
        return cls(key.name, key.id, scopes, collections, key.requests_per_minute)

    def require_collection(self, name: str) -> None:
        """Raise where the caller may not use a collection, with the same words whether it exists or not.

        Raises:
            Forbidden: It may not.
        """
        if self.collections is not None and name not in self.collections:
            raise Forbidden(
                f"The key {self.name!r} may not use the collection {name!r}, whether it exists or not. "
                f"It may use: {', '.join(sorted(self.collections))}."
            )

    def require_everything(self, what: str) -> None:
        """Raise where the caller is limited to some collections.

        Raises:
            Forbidden: It is.
        """
        if self.collections is not None:
            raise Forbidden(
                f"{what} tells of all collections, and the key {self.name!r} is limited to "
                f"{', '.join(sorted(self.collections))}. Use a key without --collection."
            )


EVERYBODY = Caller("everybody", "", frozenset(SCOPES), None, is_known=False)
"""The caller of a server that has no keys."""

_current: ContextVar[Caller] = ContextVar("caller")


def current_caller() -> Caller:
    """Return who calls.

    Raises:
        CallerUnknown: Nobody has said: the code runs outside a request, or in a thread that was not given its context.
    """
    try:
        return _current.get()
    except LookupError as error:
        raise CallerUnknown("This was asked for on behalf of nobody; use `acting_as` or `in_context`.") from error


@contextmanager
def acting_as(caller: Caller) -> Iterator[None]:
    """Work for a caller within the block."""
    token = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(token)


def in_context(work: Callable[[], Result]) -> Callable[[], Result]:
    """Return `work` for another thread, where it has the same caller."""
    context = copy_context()
    return lambda: context.run(work)
