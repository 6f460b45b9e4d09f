"""A question, and the answer to it."""

from __future__ import annotations

from datetime import date

from pydantic import ConfigDict, Field, JsonValue, model_validator

from app.schemas.arm import SEARCH_OPTIONS, ArmOptions, RetrieverName
from app.schemas.passage import Citation, DroppedPassage, NothingFound, Passage
from app.schemas.prompt import MAX_HISTORY, MAX_TEXT, Message, Turn
from app.schemas.schema import Schema


class AnswerRequest(ArmOptions):
    """`POST /v1/answers` and `POST /v1/prompts`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "Who keeps the lighthouse?", "top_k": 3, "stream": False}]}
    )

    question: str = Field(min_length=1, max_length=MAX_TEXT)
    history: tuple[Turn, ...] = Field(default=(), max_length=MAX_HISTORY)
    """Earlier turns of the conversation, put before the question in the prompt, the last ones as far as they fit. They
    are not searched with. What a `system` turn says is added to the prompt's own instruction."""
    collection: str = "default"
    passage_ids: tuple[int, ...] = Field(default=(), max_length=50)
    """With `retriever: given`, the chunks to put into the prompt, best first."""
    filter: dict[str, JsonValue] | None = None
    """Which passages are searched, such as `{"team": "harbour", "year": {"gte": 2024}}`."""
    as_of: date | None = None
    """Search what held on that day; None searches what is current."""
    include_prompt: bool = False
    """Return the messages that were sent to the engine."""
    stream: bool = False
    """Send the answer as server-sent events while it is written; `POST /v1/prompts` has nothing to stream."""
    timeout_s: float | None = Field(default=None, gt=0)
    """Seconds after which no answer is wanted any more, waiting included; at most the server's own deadline."""

    @model_validator(mode="after")
    def _search_options_go_with_a_search(self) -> AnswerRequest:
        if self.retriever in ("none", "given"):
            idle = [name for name in SEARCH_OPTIONS if getattr(self, name) is not None]
            if idle:
                raise ValueError(f"{', '.join(idle)}: the retriever {self.retriever!r} searches nothing")
        return self

    @model_validator(mode="after")
    def _passage_ids_go_with_given(self) -> AnswerRequest:
        if bool(self.passage_ids) != (self.retriever == "given"):
            raise ValueError("passage_ids goes with retriever 'given', and 'given' needs at least one passage id")
        if not self.question.strip():
            raise ValueError("question is blank")
        return self


class Usage(Schema):
    """Tokens, as the engine counted them; none where it was not asked."""

    prompt_tokens: int
    completion_tokens: int


class Timing(Schema):
    """Milliseconds spent on one answer, in the order of its stages; 0 where there was no such stage."""

    queue_ms: float = 0.0
    """Waiting for a place among the questions being answered."""
    embed_ms: float = 0.0
    """Embedding the question, waiting for the embedding model included."""
    search_ms: float = 0.0
    """Searching, without embedding."""
    prompt_ms: float = 0.0
    """Choosing what fits and writing the prompt."""
    first_token_ms: float | None = None
    """From the request to the engine to the first piece of text; None where the answer was not streamed."""
    generate_ms: float = 0.0
    """The engine's part."""
    cite_ms: float = 0.0
    """Finding citations and comparing them with the stored text."""
    total_ms: float


class Routed(Schema):
    """Which replicas answered, and why these."""

    pool: str
    """The name of the pool; pools that serve one checkpoint are named after it."""
    reason: str
    """Why its checkpoint was chosen: the request named it, or what the routing policy went by."""


class Cost(Schema):
    """What an answer costs by the server's prices for tokens."""

    currency: str
    money: float = Field(ge=0)


class Answer(Schema):
    """The answer to one question, with all that is needed to produce it again."""

    id: str
    question: str
    answer: str
    answerable: bool = True
    """False where a search found nothing to answer from; `answer` is then a fixed text, of no engine."""
    citations: tuple[Citation, ...]
    invalid_citations: int = 0
    """How many markers name no passage, and how many quotes are not in the stored text any more; none of them is part
    of `citations`."""
    passages: tuple[Passage, ...]
    dropped_passages: tuple[DroppedPassage, ...] = ()
    """The retrieved passages that are not part of the prompt, best first."""
    checkpoint: str
    routed: Routed | None = None
    weights_hash: str | None = None
    """SHA-256 of the checkpoint's weights, where its card is at hand."""
    retriever: RetrieverName
    prompt: str
    """Name and version of the template."""
    prompt_hash: str = ""
    """SHA-256 of all in the template that reaches a model."""
    collection: str
    nothing_found: NothingFound | None = None
    """Why a search found no passages; None where it found some, or where nothing was searched."""
    index_generation: int | None
    """The published index that was searched, together with what was committed since; None where none was."""
    index_revision: int | None = None
    """Counts the commits of the collection: all up to this one were searched. None where none was."""
    finish_reason: str
    usage: Usage
    cost: Cost | None = None
    """None where the server knows no price."""
    timing: Timing
    dropped_turns: int = 0
    """How many turns of the history did not fit into the model's context."""
    messages: tuple[Message, ...] | None = None
    """What was sent to the engine, where `include_prompt` asked for it."""
