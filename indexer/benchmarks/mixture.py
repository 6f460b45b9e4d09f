"""Vectors of any number that lie as those of real passages and questions do.

A passage is drawn around an embedded one: a Gaussian over the directions to its nearest neighbours, as wide as they are
far. So it keeps the clusters, their sizes and the few directions in which texts of one kind differ. A question is drawn
from a passage by the angle and the direction in which an embedded question stands off the passage that answers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from indexer.embedding.fingerprint import Vectors

NEIGHBOURS = 8
ROWS = 2048
"""Vectors drawn at once, with their neighbours 25 MB of 384 numbers."""


@dataclass(frozen=True)
class Mixture:
    """What is drawn from."""

    passages: Vectors
    """Embedded passages, unit length, shape (n, dimension)."""
    neighbours: npt.NDArray[np.int64]
    """The nearest of them to each, shape (n, NEIGHBOURS)."""
    cosines: npt.NDArray[np.float32]
    """Of embedded questions with the passages that answer them, shape (m,)."""
    offsets: Vectors
    """The direction, of unit length and at right angles to the passage, in which each question stands off."""

    @classmethod
    def fit(cls, passages: Vectors, questions: Vectors, answers: npt.NDArray[np.int64]) -> Mixture:
        """Fit to embedded passages, and to questions whose answers are the passages at these positions."""
        neighbours = np.empty((len(passages), NEIGHBOURS), dtype=np.int64)
        for row in range(0, len(passages), ROWS):
            scores = passages[row : row + ROWS] @ passages.T
            scores[np.arange(len(scores)), row + np.arange(len(scores))] = -np.inf
            neighbours[row : row + ROWS] = np.argpartition(-scores, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        gold = passages[answers]
        cosines = np.sum(questions * gold, axis=1)
        return cls(passages, neighbours, cosines, _unit(questions - cosines[:, None] * gold))

    def draw(self, count: int, random: np.random.Generator) -> Vectors:
        """Return `count` passages, shape (count, dimension)."""
        drawn = np.empty((count, self.passages.shape[1]), dtype=np.float32)
        for start in range(0, count, ROWS):
            rows = drawn[start : start + ROWS]
            owners = random.integers(0, len(self.passages), len(rows))
            middles = self.passages[owners]
            directions = self.passages[self.neighbours[owners]] - middles[:, None, :]
            steps = random.standard_normal((len(rows), 1, NEIGHBOURS), dtype=np.float32) * np.float32(NEIGHBOURS**-0.5)
            rows[:] = _unit(middles + (steps @ directions)[:, 0])
        return drawn

    def draw_questions(self, passages: Vectors, random: np.random.Generator) -> Vectors:
        """Return a question for each of these passages, shape (passages, dimension)."""
        like = random.integers(0, len(self.cosines), len(passages))
        offsets = self.offsets[like]
        offsets = _unit(offsets - np.sum(offsets * passages, axis=1, keepdims=True) * passages)
        cosines = self.cosines[like, None]
        return _unit(cosines * passages + np.sqrt(1 - cosines**2) * offsets)


def _unit(vectors: npt.NDArray[np.floating[Any]]) -> Vectors:
    unit: Vectors = (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)).astype(np.float32)
    return unit
