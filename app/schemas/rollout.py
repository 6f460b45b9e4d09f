"""A rollout: another checkpoint takes over as the default, while the server goes on answering."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from app.schemas.prompt import MAX_TEXT
from app.schemas.schema import Schema

RolloutStatus = Literal["running", "done", "rolled_back", "failed"]


class Probe(Schema):
    """A question that every replica of the new version is asked before it answers anybody."""

    question: str = Field(min_length=1, max_length=MAX_TEXT)
    contains: str | None = None
    """What the new version's answer must contain, in any case of letters."""


class RolloutRequest(Schema):
    """`POST /v1/checkpoints/{label}/promote` and `POST /v1/checkpoints/rollback`; every field has a default."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})

    probes: tuple[Probe, ...] = Field(default=(), max_length=50)
    keep: bool = False
    """Go on serving the version that answers until now, under its own label; it keeps its memory."""


class ProbeResult(Schema):
    """What a probe's question was answered with by the version before and the new one, on a replica of it."""

    question: str
    before: str
    after: str
    contains: str | None = None
    difference: float
    """Mean absolute difference of the log-probabilities of the tokens that both versions wrote, in nats."""


class Verification(Schema):
    """Why a replica is believed to serve the new weights."""

    replica: str
    """Its URL."""
    seconds_to_start: float
    noise: float
    """The mean difference of the version before from itself, asked twice."""
    difference: float
    """The mean difference of the new version from the version before."""
    probes: tuple[ProbeResult, ...] = ()


class Rollout(Schema):
    """`GET /v1/rollouts/{id}`."""

    id: str
    checkpoint: str
    previous: str
    """What answered before."""
    status: RolloutStatus = "running"
    """`rolled_back`: it could not be done, and what answered before answers as before. `failed`: not even that, or the
    server ended on the way."""
    detail: str = "It has begun."
    """What it does at the moment, or how it ended."""
    weights_hash: str | None = None
    """SHA-256 of the new weights, read from their file when it began and compared with the checkpoint's card."""
    started: datetime
    finished: datetime | None = None
    seconds: float = 0.0
    replicas: tuple[Verification, ...] = ()
    requests_served: int = 0
    """Questions answered meanwhile, by whichever version."""
    requests_failed: int = 0
    """Questions that failed meanwhile because of an engine."""
    memory_before_bytes: int = 0
    """Proportional share of memory of all engine processes when it began."""
    memory_peak_bytes: int = 0
    """The most of it meanwhile, read once a second."""


class RolloutList(Schema):
    """`GET /v1/rollouts`, the latest first."""

    rollouts: tuple[Rollout, ...]
