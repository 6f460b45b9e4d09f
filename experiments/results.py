"""`results.json`: what other programs read of a run. Everything in the reports comes from it and from the records."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.schemas.schema import Schema

VerdictWord = Literal["better", "worse", "equivalent", "underpowered"]
"""About `a` against `b`. `better` and `worse`: the interval excludes 0, and `p_adjusted`, where there is one, is below
0.05. `equivalent`: the interval lies within the margin. `underpowered`: neither can be said with so many questions."""


class Estimate(Schema):
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


class Latency(Schema):
    """Milliseconds for one answer, seen by the client."""

    p50: float
    p95: float


class Tokens(Schema):
    """Mean tokens for one question, as the engine counted them."""

    prompt: float
    completion: float


class ArmCost(Schema):
    """What an arm costs. Money is seconds x price for a machine hour / 3600."""

    one_off_seconds: float
    """Indexing for an arm that retrieves, training for a fine-tuned one, both for both."""
    one_off_money: float
    seconds_per_1000_questions: float
    """Machine seconds of serving 1,000 questions at the run's concurrency."""
    money_per_1000_questions: float
    training_seconds: float | None = None
    training_peak_bytes: int | None = None


class ArmResult(Schema):
    """One arm's figures over the test questions."""

    checkpoint: str
    retriever: str
    prompt: str
    top_k: int
    collection: str
    n: int
    """Test questions asked."""
    scored: int
    """Of these, answered and therefore scored."""
    metrics: dict[str, Estimate]
    latency_ms: Latency
    tokens: Tokens
    cost: ArmCost


class Contrast(Schema):
    """Arm `a` minus arm `b`, question by question."""

    a: str
    b: str
    metric: str
    n: int
    difference: float
    low: float
    high: float
    p: float
    """Two-sided McNemar's exact test for a metric of 0 and 1; a sign-flip permutation test otherwise."""
    p_adjusted: float | None = None
    """`p` corrected by Holm's method over all contrasts but the primary; None for the primary."""
    a_only: int
    """Questions that only `a` got right, or on which it scored higher."""
    b_only: int
    mde: float
    """Smallest difference found with 80 % power, by the measured discordance."""
    verdict: VerdictWord
    primary: bool = False


class Gate(Schema):
    """A check that must pass before a number counts."""

    name: str
    passed: bool
    detail: str


class Trial(Schema):
    """A controlled experiment on one claim, e.g. forgetting."""

    claim: str
    measured: dict[str, float | Estimate]
    expected: str
    verdict: str


class CorpusSummary(Schema):
    """What the run was about."""

    name: str
    documents: int
    questions: int
    """Test questions."""
    hash: str
    """`documents_hash` of the corpus."""


class CostSummary(Schema):
    """The prices behind every sum."""

    currency: str
    price_per_hour: float
    indexing_seconds: float
    training_seconds: float | None
    break_even_questions: float | None
    """Questions after which the dearer of RAG and fine-tuning at the start is the cheaper in all; None: never."""
    break_even_note: str


class Results(Schema):
    """The whole of `results.json`."""

    experiment: str
    created: str
    """ISO 8601, UTC: when the last answer arrived."""
    command: str
    """The command that reproduces the run."""
    primary_metric: str
    verdict: str
    """The finding in one sentence."""
    environment: dict[str, str]
    corpus: CorpusSummary
    arms: dict[str, ArmResult]
    contrasts: tuple[Contrast, ...]
    gates: tuple[Gate, ...]
    trials: dict[str, Trial] = Field(default_factory=dict)
    cost: CostSummary
