"""How many lists a search has to look into: measured on passages of the index itself, against all of its vectors."""

from __future__ import annotations

import numpy as np

from indexer.embedding.fingerprint import Vectors
from indexer.vectors.index import LEAST_CANDIDATES, Ids, VectorIndex

QUESTIONS = 200
NEAREST = 10
RECALL = 0.99
"""What own passages must find of their neighbours before the number of lists is doubled."""
QUESTION_FACTOR = 2
"""So many times the lists are looked into: a question lies farther from the passages than they lie from each other, and
the neighbours of one that is about something else lie scattered. In 3,554 passages of a handbook, questions about
technical proposals, companies and authors found 0.98 to 1.00 of theirs so; with 0.995 of the neighbours of passages and
no factor they found 0.92 to 0.99."""
EQUAL = 1e-6
"""Cosines that differ by less are equal: copies of a text are as good as each other."""


class Neighbours:
    """The nearest neighbours of some passages, found by looking at every vector once."""

    def __init__(self, ids: Ids, vectors: Vectors) -> None:
        """Take the neighbours of the first `QUESTIONS` of these vectors."""
        self.ids, self.questions = ids[:QUESTIONS], np.ascontiguousarray(vectors[:QUESTIONS])
        shape = (len(self.ids), LEAST_CANDIDATES)
        self._ids: Ids = np.full(shape, -1, dtype=np.int64)
        self._scores = np.full(shape, -np.inf, dtype=np.float32)

    def look_at(self, ids: Ids, vectors: Vectors) -> None:
        """Keep those of these vectors that are nearer than what was seen before; a passage is not its own neighbour."""
        scores = self.questions @ vectors.T
        scores[self.ids[:, None] == ids[None, :]] = -np.inf
        all_scores = np.concatenate([self._scores, scores], axis=1)
        all_ids = np.concatenate([self._ids, np.broadcast_to(ids, scores.shape)], axis=1)
        kept = np.argpartition(-all_scores, LEAST_CANDIDATES - 1, axis=1)[:, :LEAST_CANDIDATES]
        self._scores = np.take_along_axis(all_scores, kept, axis=1)
        self._ids = np.take_along_axis(all_ids, kept, axis=1)

    def recall(self, found: Ids) -> float:
        """Return the share of the nearest neighbours that are among those found, shape (questions, any number)."""
        shares = []
        for ids, scores, mine in zip(self._ids, self._scores, found, strict=True):
            best = np.sort(scores[np.isfinite(scores)])[::-1][:NEAREST]
            if len(best):
                good = ids[scores >= best[-1] - EQUAL]
                shares.append(min(len(np.intersect1d(good, mine)), len(best)) / len(best))
        return float(np.mean(shares)) if shares else 1.0


def choose_probes(index: VectorIndex, neighbours: Neighbours) -> tuple[int, float]:
    """Return how many lists a question needs, and the share of the neighbours of passages that so many find."""

    def recall(probes: int) -> float:
        # One candidate more, for the passage itself. The stored vectors put the best of them first.
        return neighbours.recall(index.candidates(neighbours.questions, LEAST_CANDIDATES + 1, probes))

    probes = 1
    while recall(probes) < RECALL and probes < index.lists:
        probes = min(index.lists, max(probes + 1, round(probes * 1.25)))
    probes = min(index.lists, QUESTION_FACTOR * probes)
    return probes, recall(probes)
