"""Trials: controlled experiments on one claim. A new one is a file here and a line in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from experiments.results import Trial
from experiments.run_data import RunData
from experiments.trials.forgetting import forgetting

TRIALS: Mapping[str, Callable[[RunData], Trial | None]] = {"forgetting": forgetting}
"""Name to the function that reads a trial's outcome from a run; None where the run did not hold it."""
