"""Documents whose file is gone: found, and deleted where that was asked for."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from corpus.errors import UsageError
from indexer.ingesting.judging import is_gone
from indexer.ingesting.outcomes import Outcome
from indexer.sources.sources import Sources
from indexer.store import queries

MOST = 0.5
"""The share of the documents that may be missing before it looks like a mistake: a disk that is not mounted."""

GONE = "its file is gone"


@dataclass(frozen=True)
class Missing:
    """What is missing under the files and folders that were named."""

    outcomes: tuple[Outcome, ...]
    """A deletion for each document."""
    gone: tuple[str, ...]
    """The files that are no longer there."""
    known: int
    """How many documents came from there."""

    def since(self, before: Missing) -> Missing:
        """Return what was missing `before` as well.

        A file that was moved after the folder was looked at is gone from its old place, and was not met in its new one.
        """
        then = {(outcome.id, outcome.path) for outcome in before.outcomes}
        kept = [one for one in self.outcomes if one.reason != GONE or (one.id, one.path) in then]
        return Missing(tuple(kept), tuple(set(self.gone) & set(before.gone)), self.known)

    def check(self, *, new: int) -> None:
        """Raise `UsageError` where so many are missing that it is likely a mistake; `new` ones do not count."""
        before = self.known - new
        if len(self.outcomes) > MOST * before:
            raise UsageError(
                f"{len(self.outcomes):,} of {before:,} documents are missing on disk, the first of them "
                f"{self.outcomes[0].path!r}. So many are not deleted without --force: is a disk not mounted, or the "
                "path another one?"
            )


def find_missing(
    connection: sqlite3.Connection, collection: str, sources: Sources, ids_read: Mapping[str, set[str]]
) -> Missing:
    """Return the documents under `sources` whose file is gone, or whose line is gone from a file of several.

    Args:
        connection: of the store.
        collection: where to look.
        sources: what was named.
        ids_read: the ids that were found in each file of several documents.
    """
    # What was named by a relative path may have been so from another folder.
    places = {
        source: str(json.loads(stamp.outcome)["absolute"])
        for source, stamp in queries.file_stamps(connection, collection).items()
    }
    outcomes: list[Outcome] = []
    gone: dict[str, bool] = {}
    known = 0
    for id_, source in queries.document_sources(connection, collection):
        place = places.get(source, source)
        if not sources.holds(place):
            continue
        known += 1
        if place not in gone:
            gone[place] = is_gone(place)
        if gone[place]:
            outcomes.append(Outcome(source, "deleted", id_, GONE))
        elif source in ids_read and id_ not in ids_read[source]:
            outcomes.append(Outcome(source, "deleted", id_, "it is no longer in its file"))
    sources_gone = [source for source, place in places.items() if sources.holds(place) and is_gone(place)]
    return Missing(tuple(outcomes), tuple(sources_gone), known)
