"""Retrieval recall at k: is a document that holds the answer among the passages in the prompt?

1 or 0; higher is better; k is the arm's top_k. It does not apply to an arm without passages, nor to a question whose
evidence nobody named.
"""

from __future__ import annotations

from app.schemas.answer import Answer
from corpus.schema import Question
from experiments.metrics.metric import Metric


def score(answer: Answer, question: Question) -> float | None:
    """Return 1 if a passage comes from an evidence document, else 0; None where nothing was retrieved."""
    if answer.retriever == "none" or not question.document_ids:
        return None
    return float(any(passage.document_id in question.document_ids for passage in answer.passages))


RETRIEVAL_RECALL = Metric("retrieval_recall", "Recall@k", "%", higher_is_better=True, score=score)
