"""A folder that is followed: what changes in it is brought into the index as it changes.

Events of the file system only say *that* something changed. What changed is found by an ingest over everything that
is watched, which reads only the files whose stamps differ; so renames, whole folders and events that were lost (a
queue that ran over, a network disk) are no special cases, and a sweep now and then finds what no event told.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.errors import OpenbookError, UsageError
from indexer.embedding.embedders import Embedders
from indexer.errors import StoreLocked
from indexer.ingesting.following import Watcher
from indexer.ingesting.ingest import ingest
from indexer.ingesting.options import IngestOptions
from indexer.ingesting.outcomes import FileRecord, Summary
from indexer.parsing import PARSERS
from indexer.settings import IndexerSettings
from indexer.sources.sources import Sources
from indexer.sources.walking import SKIPPED_FOLDERS
from terminal import note

TICK_MS = 500
"""How often it is looked whether a sweep is due."""
DEBOUNCE_MS = 1000
"""Changes that follow each other this fast are taken together …"""
QUIET_MS = 100
"""… as soon as nothing more happened for so long."""
SETTLE_SECONDS = 0.25
"""A file is complete when its size and time stay the same for so long."""
LONGEST_SETTLE_SECONDS = 30.0
"""A file that grows for longer is read as it is, and again when it has grown."""
RETRY_SECONDS = 1.0


@dataclass(frozen=True)
class Followed:
    """What is followed, and where it goes."""

    store: Path
    collection: str
    sources: Callable[[], Sources]
    """Makes the sources anew, since what was named may have become a folder, or be gone for a while."""
    roots: tuple[Path, ...]
    embedders: Embedders
    settings: IndexerSettings
    options: IngestOptions


class Follower:
    """Follows changes until it is told to stop."""

    def __init__(
        self,
        followed: Followed,
        report: Callable[[FileRecord], object],
        *,
        sweep_seconds: float,
        stop: threading.Event,
    ) -> None:
        """Report each change once; look at everything every `sweep_seconds`."""
        self._followed = followed
        self._report = report
        self._sweep_seconds = sweep_seconds
        self._stop = stop
        self._told: dict[str, tuple[str, str | None]] = {}
        """What was last said of a file that is a duplicate or failed: it is met again each time."""

    def follow(self, ready: Callable[[Summary | None], object]) -> None:
        """Bring the index up to date, say so, and follow changes until the event `stop` is set.

        Raises:
            KeyboardInterrupt: it was interrupted; what was committed stays.
        """
        events = self._events()
        # Watch before looking, so that nothing happens unseen in between.
        next(events, None)
        ready(self._bring_up_to_date(deleted=False))
        swept = time.monotonic()
        for changes in events:
            if changes:
                self._settle(path for _, path in changes)
            elif time.monotonic() - swept < self._sweep_seconds:
                continue
            self._bring_up_to_date(deleted=any(kind == "deleted" for kind, _ in changes))
            swept = time.monotonic()

    def _events(self) -> Iterator[set[tuple[str, str]]]:
        """Yield changes as (kind, path), and an empty set at each tick."""
        import watchfiles

        # A file is watched in its folder: an editor that saves puts another file in its place.
        places = {root if root.is_dir() else root.parent for root in self._followed.roots}
        for changes in watchfiles.watch(
            *places,
            watch_filter=lambda _, path: self._concerns(path),
            debounce=DEBOUNCE_MS,
            step=QUIET_MS,
            stop_event=self._stop,
            rust_timeout=TICK_MS,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            yield {(change.raw_str(), path) for change, path in changes}

    def _concerns(self, path: str) -> bool:
        """Return whether a path may be a document, or a folder with some: never the store itself."""
        store = os.path.abspath(self._followed.store)
        if path == store or path.startswith(store + os.sep):
            return False
        for root in map(os.path.abspath, self._followed.roots):
            if path == root:
                return True
            if path.startswith(root.rstrip(os.sep) + os.sep):
                parts = Path(path[len(root) :].lstrip(os.sep)).parts
                hidden = any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts)
                other = Path(path).suffix.lower() not in PARSERS and os.path.isfile(path)
                return not (hidden or other)
        return False

    def _settle(self, paths: Iterable[str]) -> None:
        """Wait until the files stay as they are."""
        end = time.monotonic() + LONGEST_SETTLE_SECONDS
        waiting = {path: _state(path) for path in paths}
        while waiting and time.monotonic() < end and not self._stop.wait(SETTLE_SECONDS):
            now = {path: _state(path) for path in waiting}
            waiting = {path: state for path, state in now.items() if state != waiting[path]}

    def _bring_up_to_date(self, *, deleted: bool) -> Summary | None:
        """Ingest what has changed; wait while another process writes. Returns None where it cannot be done now.

        Deletions that were seen happen, however many they are; what a sweep finds missing may be a disk that is gone.
        """
        followed = self._followed
        options = replace(followed.options, delete_missing=True, force=deleted)
        waited = False
        while not self._stop.is_set():
            try:
                return ingest(
                    followed.store,
                    followed.sources(),
                    followed.collection,
                    embedder=followed.embedders,
                    settings=followed.settings,
                    options=options,
                    watcher=Watcher(record=self._tell),
                )
            except StoreLocked as error:
                if not waited:
                    note(str(error))
                waited = True
                self._stop.wait(RETRY_SECONDS)
            except UsageError as error:
                note(str(error))
                return None
            except OpenbookError as error:
                note(f"{error} It is tried again with the next change or sweep.")
                return None
        return None

    def _tell(self, record: FileRecord) -> None:
        """Report a change; what is as it was, or was said before, is not worth a line."""
        if record.status in ("duplicate", "failed"):
            said = (record.status, record.duplicate_of or record.reason)
            if self._told.get(record.path) == said:
                return
            self._told[record.path] = said
        else:
            self._told.pop(record.path, None)
        if record.status not in ("unchanged", "skipped"):
            self._report(record)


def _state(path: str) -> tuple[int, int] | None:
    """Return size and time of a file; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
