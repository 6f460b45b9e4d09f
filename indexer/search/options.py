"""How a question is searched for, beyond where and how many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from indexer.errors import NotCalibrated, SearchRefused
from indexer.store.records import Collection

Superseded = Literal["demote", "drop", "keep"]
CALIBRATED = "calibrated"


@dataclass(frozen=True)
class SearchOptions:
    """The defaults are those of a plain search: nearest passages first, near-duplicates behind the others.

    Raises:
        SearchRefused: a number is out of its range, or two options exclude each other.
    """

    retriever: str = "dense"
    """A name of `indexer.search.RETRIEVERS`."""
    filter: Mapping[str, Any] | None = None
    """Which passages are searched, in the language of `indexer.search.filters`; None searches all."""
    as_of: date | None = None
    """Search what held on that day; None searches what is current."""
    min_score: float | Literal["calibrated"] | None = None
    """The least cosine similarity of a passage with the question, whatever the retriever; `calibrated` takes the one
    that `openbook search --calibrate` found for the collection."""
    margin: float | None = None
    """How much less similar to the question than the best passage another one may be, 0 to 2; None keeps them all. The
    best passage always stays."""
    rerank: str | None = None
    """A cross-encoder that orders the best passages anew: a local folder or a Hugging Face id."""
    mmr: float | None = None
    """The weight of relevance against novelty in maximal marginal relevance, 0 to 1; None leaves the order as it is."""
    collapse: bool = True
    """Put near-duplicates of a better passage behind all others."""
    per_document: int | None = None
    """How many passages of one document there may be."""
    superseded: Superseded = "demote"
    """Passages of a document that another one supersedes: behind those of the other where both are found, left out
    wherever the other is in the collection, or left where they are."""

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if isinstance(self.min_score, str) and self.min_score != CALIBRATED:
            raise SearchRefused(f"min_score is {self.min_score!r}; it takes a number or {CALIBRATED!r}.")
        if self.mmr is not None and not 0 <= self.mmr <= 1:
            raise SearchRefused(f"mmr is {self.mmr}; it takes a weight from 0 (novelty alone) to 1 (relevance alone).")
        if self.margin is not None and not 0 <= self.margin <= 2:
            raise SearchRefused(f"margin is {self.margin}; it takes a difference of cosine similarities from 0 to 2.")
        if self.mmr is not None and self.rerank is not None:
            raise SearchRefused("rerank and mmr each order the passages in their own way; choose one of them.")
        if self.per_document is not None and self.per_document < 1:
            raise SearchRefused(f"per_document is {self.per_document}; it takes a number from 1.")

    def threshold(self, collection: Collection) -> float | None:
        """Return the least similarity for a search of this collection, None where there is none.

        Raises:
            NotCalibrated: it is to be the collection's own, which has none.
        """
        if self.min_score != CALIBRATED:
            return None if self.min_score is None else float(self.min_score)
        if collection.min_score is None:
            raise NotCalibrated(
                f"The threshold of the collection {collection.name!r} was never calibrated. Run "
                f"`openbook search --calibrate --collection {collection.name}`, or give min_score as a number."
            )
        return collection.min_score
