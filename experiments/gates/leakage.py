"""The gate on leakage: no test wording may be among the training wordings, or memory is measured instead of knowledge.

The facts asked about must be in the training set; their wordings must not (Lewis et al. 2020, arXiv 2008.02637, found
near-duplicates of about 30 % of test questions in the training sets of public benchmarks).
"""

from __future__ import annotations

from corpus.schema import Corpus
from experiments.errors import GateFailed
from experiments.metrics.normalisation import tokens
from experiments.results import Gate
from experiments.run_data import RunData

SHOWN = 5


def leakage(run: RunData) -> Gate:
    """Pass if no test question was trained on, where the run trains at all."""
    if not run.spec.finetuned_arms:
        return Gate(name="leakage", passed=True, detail="Nothing is trained on, so nothing can leak.")
    leaked = leaked_questions(run.corpus)
    if leaked:
        return Gate(name="leakage", passed=False, detail=_described(leaked))
    counts = f"{len(run.corpus.split('train'))} training and {len(run.corpus.split('test'))} test wordings"
    return Gate(name="leakage", passed=True, detail=f"{counts}, none of them in both.")


def leaked_questions(corpus: Corpus) -> tuple[str, ...]:
    """Return the test questions that are also training questions, whatever their case and punctuation."""
    trained = {tokens(question.question) for question in corpus.split("train")}
    return tuple(question.question for question in corpus.split("test") if tokens(question.question) in trained)


def require_no_leakage(corpus: Corpus) -> None:
    """Stop a run that would train on its own test.

    Raises:
        GateFailed: A test wording is among the training wordings.
    """
    leaked = leaked_questions(corpus)
    if leaked:
        raise GateFailed(
            f"The gate leakage failed for the corpus {corpus.name!r}: {_described(leaked)} Reword or remove them "
            "in one of the two splits."
        )


def _described(leaked: tuple[str, ...]) -> str:
    shown = "; ".join(repr(question) for question in leaked[:SHOWN])
    more = f" and {len(leaked) - SHOWN} more" if len(leaked) > SHOWN else ""
    return f"{len(leaked)} test questions are training questions as well: {shown}{more}."
