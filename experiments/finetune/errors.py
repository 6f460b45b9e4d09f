"""What can go wrong with a training job; every message is fit to be shown."""

from __future__ import annotations

from corpus.errors import OpenbookError, UsageError


class JobError(UsageError):
    """The job file, the training rows, the base checkpoint or the destination cannot be used."""


class TrainingDiverged(OpenbookError):
    """The loss is no longer a number, so the weights are worthless and nothing is kept."""
