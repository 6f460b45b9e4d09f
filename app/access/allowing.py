"""A piece of work on one collection, for the current caller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import terminal
from app.access.caller import current_caller
from indexer.errors import CollectionNotFound
from indexer.index import Index


@contextmanager
def allowed(index: Index, collection: str) -> Iterator[None]:
    """Run the block where the caller may use a collection; what it says of collections names only the caller's own.

    Raises:
        Forbidden: The caller may not use it.
    """
    caller = current_caller()
    caller.require_collection(collection)
    try:
        yield
    except CollectionNotFound as error:
        if caller.collections is None:
            raise
        # The index's own message names every collection of the store.
        names = [name for name in index.collections() if name in caller.collections]
        raise CollectionNotFound(
            f"There is no collection {collection!r}.{terminal.did_you_mean(collection, names)} "
            f"Of those that the key {caller.name!r} may use there are: {', '.join(names) or 'none'}."
        ) from error
