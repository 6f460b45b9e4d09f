"""One way of answering, as a request and an experiment name it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.schemas.schema import Schema

RetrieverName = Literal["none", "dense", "lexical", "hybrid", "given"]


class Decoding(Schema):
    """How the engine turns a prompt into text. The default is greedy and short."""

    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    max_tokens: int = Field(default=32, ge=1, le=4096)
    seed: int = Field(default=0, ge=-(2**63), lt=2**63)
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = Field(default=("\n",), max_length=4)


class ArmOptions(Schema):
    """One way of answering: checkpoint x retriever x top_k x prompt x decoding. The constant part of a request."""

    checkpoint: str | None = None
    """`name@version` that must answer; None takes the one being served."""
    retriever: RetrieverName = "dense"
    """`none`: closed book. `dense`: nearest passages. `lexical`: those that share words with the question. `hybrid`:
    both, joined by reciprocal ranks. `given`: exactly the passages of `passage_ids`."""
    top_k: int = Field(default=3, ge=1, le=50)
    min_score: float | Literal["calibrated"] | None = None
    """The least cosine similarity of a passage with the question; `calibrated` takes the collection's own."""
    margin: float | None = Field(default=None, ge=0.0, le=2.0)
    """How much less similar to the question than the best passage another one may be; None keeps all of `top_k`."""
    mmr: float | None = Field(default=None, ge=0.0, le=1.0)
    """The weight of relevance against novelty in maximal marginal relevance."""
    collapse: bool = True
    """Put near-duplicates of a better passage behind all others."""
    per_document: int | None = Field(default=None, ge=1)
    """How many passages of one document there may be."""
    superseded: Literal["demote", "drop", "keep"] = "demote"
    """What becomes of passages whose document another one supersedes."""
    passage_order: Literal["rank", "document"] = "rank"
    """In which order a prompt is given its passages: best first, or by document and place, so that questions about one
    subject begin alike and the engine finds more of them in its cache. What does not fit is dropped from the end."""
    prompt: str | None = None
    """Name of the prompt; None takes the server's own, or `closed_book` without passages."""
    decoding: Decoding = Decoding()


SEARCH_OPTIONS = ("min_score", "margin", "mmr", "per_document", "filter", "as_of")

"""What would be ignored where nothing is searched, and is refused."""
