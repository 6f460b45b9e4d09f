"""Documents, questions and the corpus that holds them.

A corpus is what an experiment is run on: documents, and questions whose answers stand in those documents.
Ids are stable strings chosen by the author; a document's id is the one that the index uses as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Split = Literal["train", "test"]


class Document(BaseModel):
    """A source text with what is known about it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    text: str
    title: str = ""
    effective: date | None = None
    """The day from which the text holds."""
    authority: int = Field(default=0, ge=0)
    """How much the source is to be believed: a higher number wins over a lower one."""
    supersedes: str | None = None
    """The id of the document that this one replaces."""
    metadata: dict[str, str] = Field(default_factory=dict)

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text in UTF-8, as 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


class Question(BaseModel):
    """A question with every accepted spelling of its answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answers: tuple[str, ...] = Field(min_length=1)
    document_ids: tuple[str, ...] = ()
    """The documents that hold the answer: evidence."""
    split: Split = "test"
    """Training wordings may be shown to a fine-tuning recipe; test wordings never are."""
    fact_id: str | None = None
    """The fact asked about. Training and test wordings of one fact share it."""


class Corpus(BaseModel):
    """Documents and questions under one name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...] = ()

    def split(self, split: Split) -> tuple[Question, ...]:
        """Return the questions of one split, in the order of the corpus."""
        return tuple(question for question in self.questions if question.split == split)

    @property
    def documents_hash(self) -> str:
        """SHA-256 over ids and content hashes, the same for any order of the documents."""
        return documents_hash((document.id, document.content_hash) for document in self.documents)


def documents_hash(documents: Iterable[tuple[str, str]]) -> str:
    """Hash a set of documents given as (id, content hash) pairs, whatever their order.

    The index and the training set are each reduced to this one value, so that a report can prove that they
    hold the same texts.
    """
    digest = hashlib.sha256()
    for document_id, content_hash in sorted(documents):
        digest.update(f"{document_id}\0{content_hash}\n".encode())
    return digest.hexdigest()
