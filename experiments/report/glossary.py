"""What each metric means in plain words, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A metric as the reports speak of it."""

    label: str
    meaning: str
    source: str
    finding: str
    """What an arm did, as in "rag *was right on 71 % of the questions*"."""
    also: str = "{}"
    """The same of a further arm, as in "ft *on 64 %*"."""


_NORMALISATION = "after SQuAD normalisation (lower case, without punctuation and articles)"

GLOSSARY = {
    "contains_answer": Term(
        "Contains answer",
        f"The reply contains an accepted answer, word for word, {_NORMALISATION}.",
        "Mallen et al. 2023, arXiv:2212.10511",
        "was right on {} of the questions",
        "on {}",
    ),
    "exact_match": Term(
        "Exact match",
        f"The reply is an accepted answer and nothing else, {_NORMALISATION}.",
        "Rajpurkar et al. 2016, arXiv:1606.05250",
        "gave the exact answer to {} of the questions",
        "to {}",
    ),
    "token_f1": Term(
        "Token F1",
        "Harmonic mean of precision and recall over the words that reply and accepted answer share.",
        "Rajpurkar et al. 2016, arXiv:1606.05250",
        "reached a token F1 of {}",
    ),
    "retrieval_recall": Term(
        "Recall@k",
        "A passage that was shown comes from a document that holds the answer.",
        "Karpukhin et al. 2020, arXiv:2004.04906",
        "found the evidence for {} of the questions",
        "for {}",
    ),
}


def describe(name: str) -> Term:
    """Return what is known of a metric; one that is not in the table speaks for itself."""
    label = name.replace("_", " ")
    return GLOSSARY.get(name) or Term(label, "", "", f"scored {{}} on {label}")
