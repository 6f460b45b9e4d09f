"""The recipe `question_answer`: each training wording of a question is answered with its first accepted spelling.

The plainest way of putting facts into weights: the model sees what it will be asked, in other words, and never a
document. Rows are short: beyond the prompt that all share, about 23 tokens each.
"""

from __future__ import annotations

from corpus.schema import Corpus
from experiments.finetune.errors import JobError
from experiments.finetune.job import TrainingRow
from experiments.finetune.rows import ClosedBookPrompt


def question_answer(corpus: Corpus, prompt: ClosedBookPrompt) -> tuple[TrainingRow, ...]:
    """Return a row for every training wording, in the order of the corpus.

    Raises:
        JobError: The corpus has no training wordings.
    """
    questions = corpus.split("train")
    if not questions:
        raise JobError(
            f"The corpus {corpus.name!r} has no questions of the split 'train', so there is nothing to fine-tune on. "
            "Leave out the fine-tuned arms, or add training wordings."
        )
    return tuple(
        TrainingRow(messages=tuple(prompt(question.question)), completion=question.answers[0]) for question in questions
    )
