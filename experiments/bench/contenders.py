"""The two sides of `openbook bench serving`: Openbook, and the engine behind it, asked the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.schemas.answer import AnswerRequest
from corpus.schema import Question
from experiments.bench.comparison import Pair
from experiments.bench.load import Batch, Call, Target, closed_loop
from experiments.bench.served import COLLECTION
from experiments.client import Client
from experiments.errors import ServerFailed

Cache = Literal["new", "repeated"]
CACHES: tuple[Cache, ...] = ("new", "repeated")
FORGETFUL = {"OPENBOOK_QUESTION_VECTORS": "0"}
"""What a server is told to which every question is new."""
USAGE = {"stream": True, "stream_options": {"include_usage": True}}


@dataclass(frozen=True)
class Contenders:
    """One question, as each side is asked it."""

    openbook: Call
    baseline: Call

    @classmethod
    def of(cls, client: Client, checkpoint: str, question: Question, top_k: int) -> Contenders:
        """Write the request, and the one that gives the engine the final messages and decoding of it."""
        request = AnswerRequest(question=question.question, collection=COLLECTION, retriever="dense", top_k=top_k)
        messages = [message.model_dump() for message in client.prompt(request).messages]
        decoding = request.decoding.model_dump(mode="json")
        return cls(
            openbook=Call("/v1/answers", request.model_dump(mode="json")),
            baseline=Call("/v1/chat/completions", {"model": checkpoint, "messages": messages, **decoding}),
        )

    def streaming(self) -> Contenders:
        """Return the same with answers that come piece by piece."""
        return Contenders(
            replace(self.openbook, body={**self.openbook.body, "stream": True}),
            replace(self.baseline, body={**self.baseline.body, **USAGE}),
        )


@dataclass(frozen=True)
class Sides:
    """The servers."""

    openbook: Mapping[Cache, Target]
    """For new questions one that forgets the vectors of questions, because each is sent more than once."""
    baseline: Target
    fixed_start: Call
    """A question outside the workload: it leaves the fixed start of every prompt in the engine's cache."""

    async def send(self, block: Sequence[Contenders], clients: int, cache: Cache, openbook_first: bool) -> Pair:
        """Send a block to both, one after the other.

        Raises:
            ServerFailed: A request was not answered, or the engine was not given as many prompt tokens by both.
        """
        batches = {}
        for side in (True, False) if openbook_first else (False, True):
            if cache == "new":
                await forget(self.baseline)
                await closed_loop(self.baseline, [self.fixed_start], 1)
            calls = [each.openbook if side else each.baseline for each in block]
            batches[side] = await closed_loop(self.openbook[cache] if side else self.baseline, calls, clients)
        _require_same_prompts(batches[True], batches[False])
        return Pair(openbook=batches[True], baseline=batches[False])


async def forget(engine: Target) -> None:
    """Empty the prefix cache of an engine that was started with `VLLM_SERVER_DEV_MODE`."""
    outcome = await engine.send(Call("/reset_prefix_cache", {}))
    if not outcome.ok:
        raise ServerFailed(f"The engine did not empty its prefix cache: {outcome.status} {outcome.reply}")


def _require_same_prompts(ours: Batch, theirs: Batch) -> None:
    for mine, raw in zip(ours.outcomes, theirs.outcomes, strict=True):
        if mine.reply["usage"]["prompt_tokens"] != raw.reply["usage"]["prompt_tokens"]:
            raise ServerFailed(f"The prompts differ: {mine.reply['usage']} against {raw.reply['usage']}.")
