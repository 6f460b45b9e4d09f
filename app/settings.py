"""What `openbook serve` can be told: by options, or by environment variables named `OPENBOOK_<FIELD>`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.logs import LogFormat, LogLevel
from app.routing import RoutingOptions
from corpus.home import keys_home, store_home

ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:\d+)?|https?://\[[0-9A-Fa-f:]+\](:\d+)?")
KEPT_FROM_ENGINE_ARGS = frozenset({"--host", "--port", "--uds", "--model", "--served-model-name", "--api-key"})
"""Arguments of vLLM that decide what is served and who can reach it."""


class Settings(BaseSettings):
    """One server: what it serves, from which store, at which address, and its limits.

    An option of the command line wins over the environment, which wins over the defaults.
    """

    model_config = SettingsConfigDict(env_prefix="OPENBOOK_", frozen=True, extra="ignore")

    model: Annotated[tuple[str, ...], NoDecode] = ()
    """What to serve, the default first: checkpoints' labels, folders or Hugging Face ids; none is the base checkpoint.
    Those that no engine of `engine_url` serves get a pool of vLLM servers each."""
    replicas: int = Field(default=1, ge=1)
    """The vLLM servers of each pool. From two on there is vllm-router before them."""
    embedder: str | None = None
    """A sentence-transformers folder or Hugging Face id; None takes the one that the store was made with."""
    store: Path = Field(default_factory=store_home)
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    insecure: bool = False
    """Listen without API keys on an address that other machines can reach."""
    keys_file: Path = Field(default_factory=keys_home)
    """The API keys, as `openbook keys` writes them; without any the API asks nobody who they are."""
    cors_origin: Annotated[tuple[str, ...], NoDecode] = ()
    """Origins whose pages may call the API from a browser, such as `https://docs.example.org`."""
    engine_url: Annotated[tuple[str, ...], NoDecode] = ()
    """OpenAI-compatible servers, or routers before several, to use instead of starting vLLM, such as
    `http://127.0.0.1:8001`; the first one's first model is the default where `model` names none."""
    engine_port: int = Field(default=0, ge=0, le=65535)
    """The loopback port of the vLLM that is started, or of the router before several; 0 takes a free one. With several
    pools it is that of the first."""
    routing: str = "fixed"
    """Which checkpoint answers a question that names none: a policy's name, or `package.module:Class`."""
    routing_threshold: float | None = None
    """Where the policy draws its line; None takes its own."""
    routing_checkpoint: str | None = None
    """The checkpoint for what the policy singles out; None takes the second that is served."""
    engine_timeout_s: float = Field(default=120.0, gt=0)
    heartbeat_s: float = Field(default=15.0, gt=0)
    """Seconds of silence after which a streamed answer sends a comment, so that no proxy takes it for dead."""
    prompt: str = "worked_examples"
    """The prompt of a question with passages that names none. The worked examples take 1,000 tokens, which the engine
    computes once; `passages` does without them."""
    unanswerable_text: str = Field(default="The documents do not answer this.", min_length=1)
    """The answer where a search finds nothing to answer from. The engine is not asked."""
    answer_without_passages: bool = False
    """Ask the engine even so, with the prompt without passages: it answers from what it knows by itself."""
    currency: str = "USD"
    price_prompt: float | None = Field(default=None, ge=0)
    """What a million prompt tokens cost; where neither price is set, answers name no cost."""
    price_completion: float | None = Field(default=None, ge=0)
    """What a million tokens of answers cost."""
    system_role: bool = True
    """Off, no model gets a system message. Where a model's chat template is on this machine, it is looked at anyway."""
    prompts: Path | None = None
    """A folder of prompts of one's own, `NAME@VERSION.yaml`, beside those that come with Openbook."""
    max_model_len: int = Field(default=2048, ge=64)
    """Tokens of prompt and answer together; a model with a shorter context lowers it."""
    kv_cache_gib: int = Field(default=1, ge=1)
    """Memory for the engine's key-value cache, on a CPU."""
    compile_model: bool = False
    """Let vLLM compile the model: a minute longer to start, 15 to 20 % more throughput on a CPU afterwards."""
    engine_args: Annotated[tuple[str, ...], NoDecode] = ()
    """Further arguments of the vLLM that is started, as a shell would read them, such as `--block-size 64`. They win
    over Openbook's own."""
    preload_openmp: bool = True
    """On a CPU, let vLLM compute with Intel's OpenMP runtime where it is installed."""
    max_in_flight: int = Field(default=64, ge=1)
    """Questions answered at the same time."""
    max_queued: int = Field(default=64, ge=0)
    """Questions that may wait for that; further ones are refused at once with 429."""
    deadline_s: float = Field(default=120.0, gt=0)
    """The most that a question may take, waiting, search and generation together; then 504."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    """How many requests a key that has no limit of its own may send, or without keys an address; None is no limit."""
    max_body_kib: int = Field(default=1024, ge=1)
    """The largest body of a request that is read; a larger one is refused with 413."""
    max_upload_mib: int = Field(default=256, ge=1)
    """The largest upload of files that is read, all files of a request together; a larger one is refused with 413."""
    max_queued_jobs: int = Field(default=1000, ge=0)
    """Uploads that may wait to be taken in; further ones are refused with 429."""
    drain_seconds: float = Field(default=25.0, ge=0)
    """After SIGTERM: how long requests under way may go on. Most that send the signal wait 30 s before they kill."""
    retrieval_threads: int = Field(default=16, ge=1)
    """Questions searched for at the same time; those that wait for the embedding model are embedded together."""

    otlp_endpoint: str | None = None
    """Where traces are sent, such as `http://127.0.0.1:4318`; None is what OTEL_EXPORTER_OTLP_ENDPOINT says, or
    nowhere."""
    log_format: LogFormat = "text"
    """Lines for people, or one JSON object for each record."""
    log_level: LogLevel = "info"
    """The least that is logged; at `info` there is a line for each request."""

    @property
    def routing_options(self) -> RoutingOptions:
        """What the routing policy is made with."""
        return RoutingOptions(self.routing_checkpoint, self.routing_threshold)

    @field_validator("cors_origin", "model", "engine_url", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("engine_args", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        return shlex.split(value) if isinstance(value, str) else value

    @field_validator("engine_args")
    @classmethod
    def _leave_the_address_alone(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        taken = [word for word in words if word.partition("=")[0] in KEPT_FROM_ENGINE_ARGS]
        if taken:
            raise ValueError(f"{', '.join(taken)} cannot be set: vLLM serves what --model says, for this server alone")
        return words

    @field_validator("cors_origin")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not ORIGIN.fullmatch(origin):
                raise ValueError(f"{origin!r} is no origin, such as https://docs.example.org; '*' is not taken")
        return origins
