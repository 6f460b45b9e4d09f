"""Whether drawn vectors are as hard to search as embedded ones: the same index of lists on as many of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from indexer.benchmarks.embedded import Embedded
from indexer.embedding.fingerprint import Vectors
from indexer.vectors import build_from
from indexer.vectors.index import LEAST_CANDIDATES, Ids
from indexer.vectors.probing import Neighbours

PROBES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Likeness:
    """What both give, for each number of lists looked into."""

    probes: tuple[int, ...]
    embedded: tuple[float, ...]
    """Recall@10 on embedded passages and questions."""
    drawn: tuple[float, ...]
    embedded_cosines: tuple[float, float]
    """Of questions with the nearest and the tenth passage, at the mean."""
    drawn_cosines: tuple[float, float]
    embedded_chosen: tuple[int, float]
    """How many lists the index chose to look into, by its own passages, and the recall of questions with these."""
    drawn_chosen: tuple[int, float]


def likeness(embedded: Embedded, random: np.random.Generator) -> Likeness:
    """Compare embedded vectors with drawn ones."""
    passages = embedded.mixture.draw(len(embedded.passages), random)
    questions = embedded.mixture.draw_questions(passages[: len(embedded.questions)], random)
    real, drawn = _measure(embedded.passages, embedded.questions), _measure(passages, questions)
    return Likeness(PROBES, real.recalls, drawn.recalls, real.cosines, drawn.cosines, real.chosen, drawn.chosen)


@dataclass(frozen=True)
class _Measured:
    recalls: tuple[float, ...]
    cosines: tuple[float, float]
    chosen: tuple[int, float]


def _measure(passages: Vectors, questions: Vectors) -> _Measured:
    rows = _Rows(passages)
    index = build_from(rows, len(passages), passages.shape[1], exact_up_to=0)
    neighbours = Neighbours(np.full(len(questions), -1, dtype=np.int64), questions)
    neighbours.look_at(rows.ids, passages)

    def recall(probes: int) -> float:
        found = index.candidates(neighbours.questions, LEAST_CANDIDATES, min(probes, index.lists))
        return neighbours.recall(found)

    assert index.probes is not None
    best = np.sort(questions @ passages.T, axis=1)[:, ::-1].mean(axis=0)
    return _Measured(
        recalls=tuple(recall(probes) for probes in PROBES),
        cosines=(float(best[0]), float(best[9])),
        chosen=(index.probes, recall(index.probes)),
    )


class _Rows:
    """Vectors in memory as blocks."""

    def __init__(self, vectors: Vectors) -> None:
        self.ids: Ids = np.arange(1, len(vectors) + 1, dtype=np.int64)
        self._vectors = vectors

    def __iter__(self) -> Iterator[tuple[Ids, Vectors]]:
        yield self.ids, self._vectors
