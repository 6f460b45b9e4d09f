"""The body of `POST /v1/chat/completions`: what is honoured, what has no effect, and what is refused.

A field that would change the answer and cannot be honoured is refused, unless it says what is done anyway: an answer
that silently ignores `tools` or `n: 5` is no answer to the request. Fields that only describe the client are accepted.
"""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, JsonValue, model_validator
from pydantic.json_schema import SkipJsonSchema

from app.schemas.prompt import MAX_HISTORY, MAX_TEXT
from app.schemas.schema import Schema


def _only(*values: JsonValue) -> AfterValidator:
    """Accept null and these values."""

    def check(given: JsonValue) -> JsonValue:
        if given is not None and given not in values:
            allowed = " or ".join(json.dumps(value) for value in values)
            raise ValueError(f"not supported here; leave it out, or send {allowed}")
        return given

    return AfterValidator(check)


Refused = Annotated[JsonValue, _only([])]
NoEffect = Annotated[JsonValue, Field(description="Accepted, without effect.")]


class TextPart(Schema):
    """A part of a message; pictures, sound and files are refused."""

    type: Literal["text"]
    text: str


def _joined(content: Any) -> Any:
    """Return the text of a message that comes in parts."""
    if not isinstance(content, list):
        return content
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    if len(texts) < len(content):
        raise ValueError('a part must be {"type": "text", "text": ...}: pictures, sound and files are not read')
    return "\n".join(texts)


Content = Annotated[
    Annotated[str, Field(max_length=MAX_TEXT)] | None,
    BeforeValidator(_joined, json_schema_input_type=str | tuple[TextPart, ...] | None),
]


class ChatMessage(Schema):
    """A turn. What a completion's own message carries besides may be sent back with it."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Content = None
    name: NoEffect = None
    refusal: NoEffect = None
    annotations: NoEffect = None
    audio: SkipJsonSchema[Refused] = None
    tool_calls: SkipJsonSchema[Refused] = None
    function_call: SkipJsonSchema[Refused] = None

    @property
    def text(self) -> str:
        """The text; a turn may have none."""
        return self.content or ""


class StreamOptions(Schema):
    """What a stream holds besides the text."""

    include_usage: bool = False
    include_obfuscation: NoEffect = None


class Retrieving(Schema):
    """Openbook's own options, as in `POST /v1/answers`; the official client sends them as `extra_body`."""

    collection: str = "default"
    top_k: int = Field(default=3, ge=1, le=50)
    min_score: float | Literal["calibrated"] | None = None
    filter: dict[str, JsonValue] | None = None
    as_of: date | None = None
    prompt: str | None = None


EXAMPLE: JsonValue = {
    "model": "openbook/rag",
    "messages": [{"role": "user", "content": "Who keeps the lighthouse?"}],
    "openbook": {"top_k": 3},
}


class ChatRequest(Schema):
    """`POST /v1/chat/completions`. What is left out has Openbook's defaults: greedy, short, one line."""

    model: str | None = Field(default=None, description="An arm of `GET /v1/models`; without one, the default.")
    messages: tuple[ChatMessage, ...] = Field(min_length=1, max_length=MAX_HISTORY + 1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=4096)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=4096)
    seed: int | None = None
    stop: str | Annotated[tuple[str, ...], Field(max_length=4)] | None = None
    openbook: Retrieving | None = None

    n: Annotated[JsonValue, _only(1)] = None
    frequency_penalty: Annotated[JsonValue, _only(0)] = None
    presence_penalty: Annotated[JsonValue, _only(0)] = None
    logprobs: Annotated[JsonValue, _only(False)] = None
    top_logprobs: Annotated[JsonValue, _only(0)] = None
    logit_bias: Annotated[JsonValue, _only({})] = None
    response_format: Annotated[JsonValue, _only({"type": "text"})] = None
    modalities: Annotated[JsonValue, _only(["text"])] = None
    tools: Refused = None
    tool_choice: Annotated[JsonValue, _only("none", "auto")] = None
    functions: Refused = None
    function_call: Annotated[JsonValue, _only("none", "auto")] = None

    user: NoEffect = None
    metadata: NoEffect = None
    store: NoEffect = None
    service_tier: NoEffect = None
    safety_identifier: NoEffect = None
    prompt_cache_key: NoEffect = None
    prompt_cache_options: NoEffect = None
    prompt_cache_retention: NoEffect = None
    parallel_tool_calls: NoEffect = None
    reasoning_effort: NoEffect = None
    verbosity: NoEffect = None

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    @model_validator(mode="after")
    def _the_last_message_asks(self) -> ChatRequest:
        last = self.messages[-1]
        if last.role != "user" or not last.text.strip():
            raise ValueError("the last message must be the user's, with the question as its text")
        if self.stream_options and not self.stream:
            raise ValueError("stream_options goes with stream: true")
        return self

    def decoding(self) -> dict[str, Any]:
        """Return what the request says about decoding, in the words of `Decoding`."""
        said = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_completion_tokens or self.max_tokens,
            "seed": self.seed,
            "stop": (self.stop,) if isinstance(self.stop, str) else self.stop,
        }
        return {name: value for name, value in said.items() if value is not None}
