"""Documents that say nearly the same: MinHash signatures of their words, and an index that finds the like ones.

Two documents are near duplicates where they share most of their runs of three words. datasketch makes the signatures:
64 numbers, 256 bytes, kept with each version. They are found by locality-sensitive hashing (12 bands of 5 numbers: of
documents that are 0.8 alike 99 % are found, of those that are 0.5 alike 1 in 3, which the signatures then tell apart),
in two arrays of 12 numbers a document: 19 MB for 100,000 documents, where datasketch's own index takes some 500 MB.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from indexer.search.terms import search_terms
from indexer.store import queries

PERMUTATIONS = 64
BANDS = 12
BAND_ROWS = 5
RUN_WORDS = 3
LEAST_RUNS = 5
"""A text of fewer runs of words has no signature: two short ones are soon alike."""
MOST_RUNS = 100_000
"""Of a longer text only the beginning is looked at."""
NEAR = 0.8
"""The share of common runs from which two documents are near duplicates."""
CANDIDATES = 8
"""How many documents of one band are compared; a hundred copies of one text would otherwise cost a hundred each."""
READ_AT_ONCE = 4096
"""Signatures read from the store at once."""

WORD = re.compile(r"\w+")
Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class NearDuplicate:
    """A document that says nearly the same."""

    id: str
    similarity: float
    """The estimated share of common runs of words, 0 to 1."""


def signature(text: str) -> bytes | None:
    """Return the MinHash of a text, little-endian uint32, or None where it has too few words."""
    from datasketch import MinHash

    words = WORD.findall(search_terms(text).casefold())[:MOST_RUNS]
    runs = {" ".join(words[at : at + RUN_WORDS]) for at in range(len(words) - RUN_WORDS + 1)}
    if len(runs) < LEAST_RUNS:
        return None
    made = MinHash(PERMUTATIONS, scheme="affine32", hashfunc=zlib.crc32, permutations=_permutations())
    made.update_batch([run.encode() for run in runs])
    return bytes(made.hashvalues.astype("<u4").tobytes())


def similarity(one: bytes, other: bytes) -> float:
    """Return the estimated share of common runs of two signatures."""
    return float(np.mean(np.frombuffer(one, "<u4") == np.frombuffer(other, "<u4")))


class NearDuplicates:
    """Finds near duplicates among the current versions of a collection."""

    def __init__(self, connection: sqlite3.Connection, collection: str) -> None:
        """Look at what the store holds; `find` takes notice of what is committed later."""
        self._connection = connection
        self._collection = collection
        self._sorted = _Bands.empty()
        self._recent = _Bands.empty()
        self._last = 0

    def find(
        self, documents: Sequence[tuple[str, bytes | None]], without: Collection[str] = ()
    ) -> list[NearDuplicate | None]:
        """Return the nearest duplicate of each document, given as (id, signature).

        It is one that was committed, or one that stands before it in `documents`; the document's own former version
        is none, and neither is one of `without`.
        """
        self._take_notice()
        within = {id_: signature for id_, signature in documents if signature}
        mine = _Bands.of(list(within.values()), range(len(within)))
        ids = list(within)
        committed = self._signatures({key for keys in mine.by_document() for key in self._candidates(keys)})
        buckets: dict[int, list[int]] = {}
        found: dict[str, NearDuplicate] = {}
        for position, keys in enumerate(mine.by_document()):
            id_ = ids[position]
            near = {key for band in keys for key in buckets.get(int(band), ())}
            like = [(ids[other], within[ids[other]]) for other in near]
            like += [committed[key] for key in self._candidates(keys) if key in committed]
            best = max(
                (
                    NearDuplicate(other, similarity(within[id_], signed))
                    for other, signed in like
                    if other not in (id_, *without)
                ),
                key=lambda one: one.similarity,
                default=None,
            )
            if best is not None and best.similarity >= NEAR:
                found[id_] = NearDuplicate(best.id, round(best.similarity, 2))
            for band in keys:
                bucket = buckets.setdefault(int(band), [])
                if len(bucket) < CANDIDATES:
                    bucket.append(position)
        return [found.get(id_) for id_, _ in documents]

    def _candidates(self, keys: Keys) -> set[int]:
        return self._sorted.owners_of(keys) | self._recent.owners_of(keys)

    def _take_notice(self) -> None:
        """Add the versions that were committed since the last time."""
        while rows := queries.signatures_after(self._connection, self._collection, self._last, READ_AT_ONCE):
            self._recent = self._recent.merged(_Bands.of([signed for _, signed in rows], [key for key, _ in rows]))
            self._last = rows[-1][0]
            # The large part is sorted anew only when it has grown by an eighth.
            if self._recent.count > self._sorted.count // 8:
                self._sorted, self._recent = self._sorted.merged(self._recent), _Bands.empty()

    def _signatures(self, keys: Iterable[int]) -> dict[int, tuple[str, bytes]]:
        """Return id and signature of those versions that are still current."""
        return queries.signatures_of(self._connection, keys)


@dataclass(frozen=True)
class _Bands:
    """Hashes of bands, sorted, with the key of the version that each belongs to."""

    keys: Keys
    owners: npt.NDArray[np.int64]

    @classmethod
    def empty(cls) -> _Bands:
        return cls(np.empty(0, np.uint64), np.empty(0, np.int64))

    @classmethod
    def of(cls, signatures: Sequence[bytes], owners: Sequence[int]) -> _Bands:
        """Hash the bands of signatures, kept in their order: `by_document` takes them apart again."""
        if not signatures:
            return cls.empty()
        rows = np.frombuffer(b"".join(signatures), "<u4").reshape(len(signatures), -1).astype(np.uint64)
        bands = rows[:, : BANDS * BAND_ROWS].reshape(len(rows), BANDS, BAND_ROWS)
        keys = np.broadcast_to(np.arange(1, BANDS + 1, dtype=np.uint64), (len(rows), BANDS)).copy()
        for row in range(BAND_ROWS):
            # FNV-1a over the numbers of a band, its own number first.
            keys = (keys ^ bands[:, :, row]) * np.uint64(0x100000001B3)
            keys ^= keys >> np.uint64(29)
        return cls(keys.reshape(-1), np.repeat(np.asarray(owners, np.int64), BANDS))

    @property
    def count(self) -> int:
        return len(self.keys)

    def by_document(self) -> Keys:
        """Return the hashes of each document, shape (documents, BANDS)."""
        return self.keys.reshape(-1, BANDS)

    def merged(self, other: _Bands) -> _Bands:
        keys, owners = np.concatenate([self.keys, other.keys]), np.concatenate([self.owners, other.owners])
        order = np.argsort(keys, kind="stable")
        return _Bands(keys[order], owners[order])

    def owners_of(self, keys: Keys) -> set[int]:
        first = np.searchsorted(self.keys, keys, "left")
        last = np.minimum(np.searchsorted(self.keys, keys, "right"), first + CANDIDATES)
        return {int(self.owners[at]) for start, end in zip(first, last, strict=True) for at in range(start, end)}


@cache
def _permutations() -> Any:
    """Return the numbers of the permutations, which datasketch would otherwise draw anew for each document."""
    from datasketch import MinHash

    return MinHash(PERMUTATIONS, scheme="affine32").permutations
