"""Questions that several threads ask at the same time, embedded as one batch.

A batch of sixteen short questions costs a third of sixteen single ones. Nobody waits for a batch to fill: while one
thread embeds, the questions of the others gather, and the next thread takes them all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Rows = npt.NDArray[Any]


@dataclass
class _Question:
    text: str
    row: Rows | None = None
    error: BaseException | None = None


class Gatherer:
    """Makes one call out of those that wait. Threads share it."""

    def __init__(self, embed: Callable[[list[str]], Rows], largest_batch: int) -> None:
        """Take the function that embeds texts, shape (texts, dimension), and how many at most it is given."""
        self._embed = embed
        self._largest_batch = largest_batch
        self._turn = threading.Lock()
        self._waiting: list[_Question] = []

    def embed(self, text: str) -> Rows:
        """Return the row of one text, shape (dimension,). An error of its batch is raised for each text in it."""
        question = _Question(text)
        self._waiting.append(question)
        with self._turn:
            while question.row is None and question.error is None:
                self._embed_a_batch()
        if question.error is not None:
            raise question.error
        assert question.row is not None
        return question.row

    def _embed_a_batch(self) -> None:
        batch = self._waiting[: self._largest_batch]
        # Others may have joined the end meanwhile.
        del self._waiting[: len(batch)]
        try:
            rows = self._embed([question.text for question in batch])
        except BaseException as error:
            for question in batch:
                question.error = error
            return
        for question, row in zip(batch, rows, strict=True):
            question.row = row
