"""Recipes: ways of turning a corpus into training rows. A new one is a file here and a line in the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from corpus.schema import Corpus
from experiments.finetune.job import TrainingRow
from experiments.finetune.recipes.question_answer import question_answer
from experiments.finetune.rows import ClosedBookPrompt


class Recipe(Protocol):
    """A pure function of the corpus: same corpus in, same rows out."""

    def __call__(self, corpus: Corpus, prompt: ClosedBookPrompt) -> tuple[TrainingRow, ...]:
        """Return the rows to train on, made of documents and training wordings alone.

        Args:
            corpus: Its test wordings must not be used.
            prompt: Turns a question into the closed-book messages of the app, so that the model is trained on exactly
                the tokens it will be served.
        """
        ...


RECIPES: Mapping[str, Recipe] = {"question_answer": question_answer}
