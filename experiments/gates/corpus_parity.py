"""The gate on fairness: index and training set must hold the same documents, or one arm knows more than the other.

Three hashes over (id, content hash) of every document are compared: the corpus's, that of the server's own list of
documents, and the one on the card of the fine-tuned checkpoint (see `corpus.schema.documents_hash`).
"""

from __future__ import annotations

from experiments.errors import GateFailed
from experiments.results import Gate
from experiments.run_data import RunData


def corpus_parity(run: RunData) -> Gate:
    """Pass if index, training set and corpus have the same hash."""
    corpus_hash = run.corpus.documents_hash
    hashes = {"the index": run.state.index_hash}
    if run.spec.finetuned_arms and run.state.finetuned is not None:
        hashes["the training set"] = run.state.finetuned.documents_hash
    strangers = [holder for holder, value in hashes.items() if value != corpus_hash]
    count = len(run.corpus.documents)
    if strangers:
        detail = f"Other documents than the {count} of the corpus are in {' and in '.join(strangers)}."
        return Gate(name="corpus_parity", passed=False, detail=detail)
    detail = f"The same {count} documents (SHA-256 {corpus_hash[:12]}…) are in {' and in '.join(hashes)}."
    return Gate(name="corpus_parity", passed=True, detail=detail)


def require_index_parity(index_hash: str, corpus_hash: str) -> None:
    """Stop a run whose index does not hold the corpus's documents.

    Raises:
        GateFailed: The hashes differ.
    """
    if index_hash != corpus_hash:
        raise GateFailed(
            "The gate corpus_parity failed: the index does not hold the same documents as the corpus "
            f"({index_hash[:12]}… instead of {corpus_hash[:12]}…). Run again with --fresh; if it fails again, the "
            "indexer changed or dropped a document, see logs/ingest-main.log in the run's folder."
        )
