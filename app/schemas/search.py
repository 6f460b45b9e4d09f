"""A search for passages, without a model that reads them."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import ConfigDict, Field, JsonValue, model_validator

from app.schemas.collection import CollectionName
from app.schemas.passage import NothingFound, Passage
from app.schemas.prompt import MAX_TEXT
from app.schemas.schema import Schema

SearchRetriever = Literal["dense", "lexical", "hybrid"]


class SearchRequest(Schema):
    """`POST /v1/search`: the fields of `POST /v1/answers` that say what is searched, and how."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "Who keeps the lighthouse?", "retriever": "hybrid", "top_k": 5}]}
    )

    question: str = Field(min_length=1, max_length=MAX_TEXT)
    collection: CollectionName = "default"
    retriever: SearchRetriever = "dense"
    """`dense`: nearest passages. `lexical`: those that share words with the question. `hybrid`: both, joined by
    reciprocal ranks."""
    top_k: int = Field(default=5, ge=1, le=50)
    filter: dict[str, JsonValue] | None = None
    """Which passages are searched, such as `{"team": "harbour", "year": {"gte": 2024}}`."""
    as_of: date | None = None
    """Search what held on that day; None searches what is current."""
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

    @model_validator(mode="after")
    def _is_not_blank(self) -> SearchRequest:
        if not self.question.strip():
            raise ValueError("question is blank")
        return self


class SearchResults(Schema):
    """The passages for a question, best first."""

    passages: tuple[Passage, ...]
    nothing_found: NothingFound | None
    """Why there are none; None where there are."""
    collection: str
    retriever: SearchRetriever
    index_generation: int | None
    """The published index that was searched, together with what was committed since."""
    index_revision: int | None
    """Counts the commits of the collection: all up to this one were searched."""
    search_ms: float
