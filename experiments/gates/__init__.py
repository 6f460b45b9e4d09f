"""Gates: checks that must pass before a number counts. A new one is a file here and a line in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from experiments.gates.closed_book import closed_book
from experiments.gates.corpus_parity import corpus_parity
from experiments.gates.errors import errors
from experiments.gates.leakage import leakage
from experiments.gates.metric_self_test import metric_self_test
from experiments.gates.one_prompt import one_prompt
from experiments.gates.repeatability import repeatability
from experiments.gates.served_checkpoints import served_checkpoints
from experiments.results import Gate
from experiments.run_data import RunData

GATES: Mapping[str, Callable[[RunData], Gate]] = {
    "metric_self_test": metric_self_test,
    "leakage": leakage,
    "corpus_parity": corpus_parity,
    "served_checkpoints": served_checkpoints,
    "one_prompt": one_prompt,
    "errors": errors,
    "repeatability": repeatability,
    "closed_book": closed_book,
}
"""Name to the function that reads a gate's outcome from a run, in the order in which they are shown."""
