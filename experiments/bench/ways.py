"""Ways of answering from the same documents: plain retrieval, and what may make it cheaper, one by one and together.

Plain retrieval is what a first version does: vLLM as it comes, the five best passages in the order of their rank, an
instruction and the question. What changes the engine is measured on plain retrieval itself; what changes the prompt on
an engine that has all of it, so that the long measurements are short ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from app.schemas.answer import AnswerRequest
from corpus.schema import Question
from experiments.bench.contenders import FORGETFUL
from experiments.bench.load import Call
from experiments.bench.served import COLLECTION

SHORT, SHORT_TOKENS = "short", 64
"""The collection of short passages, and how many tokens the longest has."""
SPECULATION = '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_min": 2, "prompt_lookup_max": 4}'
"""vLLM guesses that the answer repeats the prompt: a quote is then read in one step instead of many."""


@dataclass(frozen=True)
class Engine:
    """How vLLM is started; the defaults are vLLM's own on a CPU (November 2026)."""

    all_cores: bool = False
    """vLLM leaves a core idle by itself."""
    openmp: bool = False
    block_tokens: int = 128
    speculation: bool = False
    compiled: bool = False

    def environment(self) -> dict[str, str]:
        """Return what `openbook serve` is told."""
        arguments = f"--block-size {self.block_tokens}"
        if self.speculation:
            arguments += f" --speculative-config '{SPECULATION}'"
        told = {
            **FORGETFUL,
            "OPENBOOK_PRELOAD_OPENMP": str(int(self.openmp)),
            "OPENBOOK_ENGINE_ARGS": arguments,
            "OPENBOOK_COMPILE_MODEL": str(int(self.compiled)),
        }
        return told if self.all_cores else {**told, "VLLM_CPU_OMP_THREADS_BIND": "auto"}


PLAIN_ENGINE = Engine()
TUNED_ENGINE = Engine(all_cores=True, openmp=True, block_tokens=32)


@dataclass(frozen=True)
class Way:
    """One way of answering."""

    name: str
    what: str
    """What differs from the way that it is measured against."""
    against: str | None
    """The way that its speed is compared with; accuracy is always compared with plain retrieval's."""
    engine: Engine = PLAIN_ENGINE
    asks: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """What its requests say, other than plain retrieval's."""
    same_prompts: bool = False
    """Whether only the engine differs: then a part of the questions is enough."""

    def call(self, question: Question, timeout_s: float | None = None) -> Call:
        """Return the request of a question."""
        request = AnswerRequest(question=question.question, timeout_s=timeout_s, **{**PLAIN_ASKS, **self.asks})
        return Call("/v1/answers", request.model_dump(mode="json"))


PLAIN_ASKS: Mapping[str, Any] = {"collection": COLLECTION, "retriever": "dense", "top_k": 5, "prompt": "passages"}
BEST: Mapping[str, Any] = {"collection": SHORT, "prompt": "worked_examples", "top_k": 1}
WAYS: Mapping[str, Way] = {
    way.name: way
    for way in (
        Way("plain", "vLLM's defaults, five passages by rank", None),
        Way("cores", "every core computes", "plain", Engine(all_cores=True), same_prompts=True),
        Way("openmp", "Intel's OpenMP preloaded", "plain", Engine(openmp=True), same_prompts=True),
        Way("blocks", "cache blocks of 32 tokens, not 128", "plain", Engine(block_tokens=32), same_prompts=True),
        Way("speculation", "n-grams of the prompt guessed", "plain", Engine(speculation=True), same_prompts=True),
        Way("tuned", "the first three together", "plain", TUNED_ENGINE),
        Way("order", "passages by document and place", "tuned", TUNED_ENGINE, {"passage_order": "document"}),
        Way("top-3", "three passages", "tuned", TUNED_ENGINE, {"top_k": 3}),
        Way("top-2", "two passages", "tuned", TUNED_ENGINE, {"top_k": 2}),
        Way("top-1", "one passage", "tuned", TUNED_ENGINE, {"top_k": 1}),
        Way("margin", "only passages near the best", "tuned", TUNED_ENGINE, {"margin": 0.1}),
        Way("short", f"passages of {SHORT_TOKENS} tokens", "tuned", TUNED_ENGINE, {"collection": SHORT}),
        Way("examples", "worked examples, cached", "tuned", TUNED_ENGINE, {"prompt": "worked_examples"}),
        Way("together", "examples, one short passage", "tuned", TUNED_ENGINE, BEST),
        Way("together-2", "examples, two short passages", "tuned", TUNED_ENGINE, {**BEST, "top_k": 2}),
    )
}
"""What one by one is `plain` or `tuned` with one difference. To add a way: a line here."""
EXTRA: Mapping[str, Way] = {
    way.name: way
    for way in (
        Way("guessing", "together, with n-grams guessed", "together", Engine(True, True, 32, True), BEST),
        Way("compiled", "together, compiled", "together", Engine(True, True, 32, compiled=True), BEST),
        Way("plain-compiled", "plain, compiled", "plain", Engine(compiled=True), same_prompts=True),
    )
}
"""Measured only where they are named, because each takes a start of its own, and a compiled one two minutes."""


def chosen(only: Sequence[str]) -> tuple[Way, ...]:
    """Return the ways of these names with those that they are measured against, or all; `plain` comes first.

    Raises:
        KeyError: There is no such way.
    """
    known = {**WAYS, **EXTRA}
    needed: set[str] = set()
    for name in only or WAYS:
        step: str | None = name
        while step is not None:
            needed.add(step)
            step = known[step].against
    return tuple(way for name, way in known.items() if name in {*needed, "plain"})


def by_engine(ways: Sequence[Way]) -> Iterator[tuple[Engine, list[Way]]]:
    """Yield each engine once, with the ways that it serves."""
    for engine in dict.fromkeys(way.engine for way in ways):
        yield engine, [way for way in ways if way.engine == engine]
