"""What a streamed answer is made of, in this order: a retrieval, tokens, citations, and the whole answer.

Whole and streamed answers come from one place, so that the tokens put together are the text of the answer.
"""

from __future__ import annotations

from app.schemas.answer import Answer
from app.schemas.arm import RetrieverName
from app.schemas.passage import Citation, DroppedPassage, NothingFound, Passage
from app.schemas.problem import Problem
from app.schemas.schema import Schema


class Retrieval(Schema):
    """The passages are found and the prompt is written; the engine begins, where there is something to answer from."""

    id: str
    """The id of the answer that follows."""
    checkpoint: str
    retriever: RetrieverName
    collection: str
    weights_hash: str | None
    prompt: str
    prompt_hash: str
    answerable: bool
    passages: tuple[Passage, ...]
    dropped_passages: tuple[DroppedPassage, ...]
    nothing_found: NothingFound | None
    index_generation: int | None
    index_revision: int | None


class Token(Schema):
    """A piece of the answer's text, of one token or more."""

    text: str


Event = Retrieval | Token | Citation | Answer
"""What an answer in the making yields; the answer itself comes last."""

NAMES: dict[type[Schema] | type[Problem], str] = {
    Retrieval: "retrieval",
    Token: "token",
    Citation: "citation",
    Answer: "final",
    Problem: "error",
}
"""The `event:` field of the server-sent event that carries each."""


class Trimmer:
    """Takes the space around a text away while the text is still coming."""

    def __init__(self) -> None:
        """Begin before the text."""
        self._held = ""
        self._begun = False

    def add(self, piece: str) -> str:
        """Return what is sure to belong to the trimmed text; space at the end waits for what follows it."""
        text = self._held + piece if self._begun else piece.lstrip()
        kept = text.rstrip()
        self._begun = self._begun or bool(kept)
        self._held = text[len(kept) :]
        return kept
