"""The REST contract, and the card that lies beside every checkpoint.

Every request model forbids unknown fields: a misspelt option is an error, never silently ignored, and nothing that a
client sends can reach the engine's chat template.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

RetrieverName = Literal["none", "dense", "lexical", "hybrid", "given"]
NothingFound = Literal["empty_collection", "filter_matches_nothing", "no_word_found", "below_threshold"]


MAX_TEXT = 8192
"""Characters of a question, and of each earlier turn."""
MAX_HISTORY = 64
"""Earlier turns of a conversation."""


class Schema(BaseModel):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
    mmr: float | None = Field(default=None, ge=0.0, le=1.0)
    """The weight of relevance against novelty in maximal marginal relevance."""
    collapse: bool = True
    """Put near-duplicates of a better passage behind all others."""
    per_document: int | None = Field(default=None, ge=1)
    """How many passages of one document there may be."""
    superseded: Literal["demote", "drop", "keep"] = "demote"
    """What becomes of passages whose document another one supersedes."""
    prompt: str | None = None
    """Name of the prompt; None takes the server's own, or `closed_book` without passages."""
    decoding: Decoding = Decoding()


SEARCH_OPTIONS = ("min_score", "mmr", "per_document", "filter", "as_of")
"""What would be ignored where nothing is searched, and is refused."""


class Message(Schema):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


class Turn(Message):
    """An earlier message of a conversation."""

    content: str = Field(max_length=MAX_TEXT)


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


class Passage(Schema):
    """A chunk returned for a question."""

    label: int = Field(ge=1)
    """The number under which the prompt shows it."""
    id: int
    document_id: str
    title: str
    source: str
    text: str
    start: int
    """Character offset of the passage in the document's text."""
    end: int
    score: float
    """What it was ranked by: cosine similarity with the question (`dense`), BM25 (`lexical`) or the sum of reciprocal
    ranks (`hybrid`); 1 where the passage was given."""
    context: str = ""
    """What stands above it in its document and is read with it, such as the header of its table."""
    heading_path: tuple[str, ...] = ()
    """The headings that it stands under, the outermost first."""
    page: int | None = None
    """The page that it begins on, from 1, where the format has pages."""
    authority: int = 0
    """How much its document is to be believed."""
    effective: date | None = None
    """The day from which its document holds."""
    superseded_by: tuple[str, ...] = ()
    """The documents that supersede its document."""


class Citation(Schema):
    """A span of a passage that the answer rests on."""

    label: int
    passage_id: int
    document_id: str
    title: str
    source: str
    quote: str
    start: int
    """Character offset of the quote in the document's text."""
    end: int
    method: Literal["marker", "verbatim"]
    """`marker`: the model wrote [n]. `verbatim`: the answer's words stand in the passage."""


class Usage(Schema):
    """Tokens, as the engine counted them."""

    prompt_tokens: int
    completion_tokens: int


class Timing(Schema):
    """Milliseconds spent on one answer."""

    retrieve_ms: float
    generate_ms: float
    total_ms: float


class Prompt(Schema):
    """The final prompt of a request, before generation: `POST /v1/prompts`."""

    messages: tuple[Message, ...]
    prompt: str
    """Name and version of the template, e.g. `passages@1`."""
    passages: tuple[Passage, ...]
    dropped_passages: int = 0
    """How many of the retrieved passages did not fit into the model's context."""
    dropped_turns: int = 0
    """How many of the earlier turns did not."""


class Answer(Schema):
    """The answer to one question, with all that is needed to produce it again."""

    id: str
    question: str
    answer: str
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    checkpoint: str
    retriever: RetrieverName
    prompt: str
    collection: str
    nothing_found: NothingFound | None = None
    """Why a search found no passages; None where it found some, or where nothing was searched."""
    index_generation: int | None
    """The published index that was searched, together with what was committed since; None where none was."""
    index_revision: int | None = None
    """Counts the commits of the collection: all up to this one were searched. None where none was."""
    finish_reason: str
    usage: Usage
    timing: Timing
    dropped_turns: int = 0
    """How many turns of the history did not fit into the model's context."""
    messages: tuple[Message, ...] | None = None
    """What was sent to the engine, where `include_prompt` asked for it."""


class ChunkView(Schema):
    """A chunk as `GET /v1/documents/{id}` shows it."""

    id: int
    text: str
    start: int
    end: int
    tokens: int
    context: str = ""
    """What stands above it in its document and is read with it, such as the header of its table."""
    heading_path: tuple[str, ...] = ()
    """The headings that it stands under, the outermost first."""
    page: int | None = None
    """The page that it begins on, from 1, where the format has pages."""


class DocumentView(Schema):
    """A document in the index."""

    id: str
    collection: str
    title: str
    source: str
    content_hash: str
    characters: int
    chunk_count: int
    effective: date | None
    authority: int
    indexed: datetime


class DocumentDetail(DocumentView):
    """A document with its text and its chunks."""

    text: str
    chunks: tuple[ChunkView, ...]


class DocumentPage(Schema):
    """`GET /v1/documents`: one page, in the order of ids."""

    documents: tuple[DocumentView, ...]
    total: int
    next_cursor: str | None


class Health(Schema):
    """`GET /healthz`."""

    status: Literal["ok"] = "ok"


class Ready(Schema):
    """`GET /readyz` for those who show no key where the server has keys."""

    status: Literal["ready"] = "ready"


class Readiness(Schema):
    """`GET /readyz`: what is served. 503 with a problem where something is missing."""

    status: Literal["ready"] = "ready"
    checkpoint: str
    engine_url: str
    embedder: str
    collections: dict[str, int]
    """Collection to the generation of its published index."""
    revisions: dict[str, int] = {}
    """Collection to the number of its commits, which are all searched: what an ingest returned as `revision`."""


class Problem(BaseModel):
    """An error as RFC 9457 describes it (`application/problem+json`)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str | None = None
    request_id: str | None = None
    errors: list[dict[str, object]] | None = None


class CheckpointCard(Schema):
    """`checkpoint.json`, beside the weights: what they are and where they come from."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    base: str | None = None
    """The checkpoint it was trained from, or the file it was made from."""
    recipe: str | None = None
    created: datetime
    weights_hash: str
    """SHA-256 of the weights file."""
    documents_hash: str | None = None
    """The documents whose facts it was trained on (see `corpus.schema.documents_hash`)."""
    training_hash: str | None = None
    """SHA-256 of the training rows."""
    training_seconds: float | None = None
    training_peak_bytes: int | None = None
    settings: dict[str, str | int | float | bool | None] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"
