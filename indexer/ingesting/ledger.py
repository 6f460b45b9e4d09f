"""The ledger of an ingest: what became of each document and each file is counted, told, and kept as a stamp."""

from __future__ import annotations

from indexer.ingesting.following import OpenFile, Watcher
from indexer.ingesting.outcomes import FileRecord, Outcome, Tally
from indexer.ingesting.stamping import Stamps
from indexer.store.records import FileStamp


class Ledger:
    """Counts outcomes and tells the watcher."""

    def __init__(self, stamps: Stamps, watcher: Watcher) -> None:
        self.tally = Tally()
        self.ids_read: dict[str, set[str]] = {}
        """The ids in each file of several documents that was read without a failure, where they were kept."""
        self._stamps = stamps
        self._watcher = watcher
        self._new_stamps: list[FileStamp] = []

    def settle(self, file: OpenFile, outcome: Outcome, size: int) -> None:
        """Count and report what became of one document, which took `size` bytes of its file."""
        file.tally.add(outcome)
        self.tally.add(outcome)
        self._watcher.report(outcome)
        if size:
            self._watcher.advance(size)

    def close(self, file: OpenFile) -> None:
        """Report on a file, once it is read and nothing of it is pending."""
        if not file.finished or file.pending or file.closed:
            return
        file.closed = True
        self._watcher.advance(max(0, file.found.size - file.bytes_read))
        self._tell(file.tally.record(file.seconds))
        if file.ids and file.is_several and file.found.on_disk and not file.tally.counts["failed"]:
            self.ids_read[file.path] = file.ids
        stamp = self._stamps.stamp(file.found, file.tally, file.source_hash)
        if stamp is not None:
            self._new_stamps.append(stamp)

    def tell_alone(self, outcome: Outcome, documents: int = 1) -> None:
        """Count and report a file that was not read, and its documents with it."""
        self.tally.add(outcome, documents)
        self._watcher.report(outcome)
        # Written out, since a folder may hold a hundred thousand files that have not changed.
        self._tell(
            FileRecord(
                outcome.path,
                outcome.status,
                outcome.id,
                duplicate_of=outcome.duplicate_of,
                reason=outcome.reason,
                notes=outcome.notes,
                documents={outcome.status: documents},
            )
        )

    def take_stamps(self) -> list[FileStamp]:
        """Return the stamps of the files that were closed since the last time."""
        stamps, self._new_stamps = self._new_stamps, []
        return stamps

    def _tell(self, record: FileRecord) -> None:
        self.tally.add_file(record.status)
        self._watcher.record(record)
