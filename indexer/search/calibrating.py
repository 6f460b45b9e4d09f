"""The calibrated threshold of a collection: measured on its passages, kept in the store."""

from __future__ import annotations

from indexer.errors import SearchRefused
from indexer.index import Index
from indexer.search.calibration import OWN_PROBES, Calibration, calibrate
from indexer.search.options import SearchOptions
from indexer.store.writer import open_writer

PLAIN = SearchOptions(collapse=False, superseded="keep")


def calibrate_collection(index: Index, collection: str, lock_wait_seconds: float = 5.0) -> Calibration:
    """Find the threshold of a collection and keep it.

    It holds for the documents of today; a collection that has changed much deserves to be calibrated again.

    Raises:
        CollectionNotFound: there is no such collection.
        SearchRefused: it is empty.
        StoreLocked: another process writes to the store.
    """
    passages = index.sample(collection, OWN_PROBES)
    if not passages:
        raise SearchRefused(f"The collection {collection!r} is empty: there is nothing to calibrate its threshold on.")

    def best_score(text: str) -> float:
        return index.search(collection, text, 1, PLAIN).hits[0].score

    calibration = calibrate(best_score, [passage.text for passage in passages])
    with open_writer(index.folder, lock_wait_seconds) as writer:
        writer.set_min_score(collection, calibration.min_score)
    return calibration
