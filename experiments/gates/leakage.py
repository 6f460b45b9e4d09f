"""The gate on leakage: no test wording may be among the training wordings, or memory is measured instead of knowledge.

The facts asked about must be in the training set; their wordings must not. `corpus.leakage` says what counts as equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpus.leakage import Leak, leaks
from corpus.schema import Corpus
from experiments.errors import GateFailed
from experiments.results import Gate
from experiments.run_data import RunData

SHOWN = 5


def leakage(run: RunData) -> Gate:
    """Pass if no test question was trained on, where the run trains at all."""
    if not run.spec.finetuned_arms:
        return Gate(name="leakage", passed=True, detail="Nothing is trained on, so nothing can leak.")
    found = leaks(run.corpus)
    if found:
        return Gate(name="leakage", passed=False, detail=_described(found))
    train, test = (len(run.corpus.split(split)) for split in ("train", "test"))
    return Gate(name="leakage", passed=True, detail=f"No twins among {train} training and {test} test wordings.")


def require_no_leakage(corpus: Corpus) -> None:
    """Stop a run that would train on its own test.

    Raises:
        GateFailed: A test wording is equal or nearly equal to a training wording.
    """
    found = leaks(corpus)
    if found:
        raise GateFailed(
            f"The gate leakage failed for the corpus {corpus.name!r}: {_described(found)} Reword or remove them in one "
            "of the two splits, or leave the fine-tuned arms out."
        )


def _described(found: Sequence[Leak]) -> str:
    shown = "; ".join(f"{leak.test_id} and {leak.train_id} ({leak.similarity:.0%} alike)" for leak in found[:SHOWN])
    more = f" and {len(found) - SHOWN} more pairs" if len(found) > SHOWN else ""
    return f"Test questions have twins among the training wordings: {shown}{more}."
