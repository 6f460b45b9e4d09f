"""A question whose prompt is written, and the answer that it becomes with what the engine made of it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from app.engine import Generation
from app.events import Retrieval
from app.evidence import Evidence
from app.pools import Lease
from app.prices import Prices
from app.schemas.answer import Answer, AnswerRequest, Routed, Usage
from app.schemas.passage import NothingFound, Passage
from app.schemas.prompt import Prompt
from app.stages import Stages

NOTHING_GENERATED = Usage(prompt_tokens=0, completion_tokens=0)


@dataclass(frozen=True)
class Retrieved:
    """The passages of a question, and which state of the index was searched."""

    passages: tuple[Passage, ...] = ()
    generation: int | None = None
    revision: int | None = None
    nothing_found: NothingFound | None = None
    embed_seconds: float = 0.0


@dataclass(frozen=True)
class Asked:
    """All that an answer says beside the engine's part."""

    request: AnswerRequest
    lease: Lease
    prompt: Prompt
    retrieved: Retrieved
    stages: Stages
    id: str = field(default_factory=lambda: f"answer-{uuid.uuid4().hex}")

    def retrieval(self) -> Retrieval:
        """Return the first event of the answer as a stream."""
        return Retrieval(
            id=self.id,
            checkpoint=self.lease.checkpoint,
            weights_hash=self.lease.weights_hash,
            retriever=self.request.retriever,
            collection=self.request.collection,
            prompt=self.prompt.prompt,
            prompt_hash=self.prompt.prompt_hash,
            answerable=self.prompt.answerable,
            passages=self.prompt.passages,
            dropped_passages=self.prompt.dropped_passages,
            nothing_found=self.retrieved.nothing_found,
            index_generation=self.retrieved.generation,
            index_revision=self.retrieved.revision,
        )

    def answer(self, generation: Generation, evidence: Evidence, prices: Prices) -> Answer:
        """Return the answer: the text without the space around it, and what it rests on."""
        return self._answer(generation.text.strip(), generation.finish_reason, generation.usage, evidence, prices)

    def unanswered(self, text: str, prices: Prices) -> Answer:
        """Return the answer where there is nothing to answer from."""
        return self._answer(text, "stop", NOTHING_GENERATED, Evidence(), prices)

    def _answer(self, text: str, finish_reason: str, usage: Usage, evidence: Evidence, prices: Prices) -> Answer:
        request, prompt = self.request, self.prompt
        return Answer(
            id=self.id,
            question=request.question,
            answer=text,
            answerable=prompt.answerable,
            citations=evidence.citations,
            invalid_citations=evidence.invalid,
            passages=prompt.passages,
            dropped_passages=prompt.dropped_passages,
            checkpoint=self.lease.checkpoint,
            weights_hash=self.lease.weights_hash,
            routed=Routed(pool=self.lease.pool, reason=self.lease.choice.reason),
            retriever=request.retriever,
            prompt=prompt.prompt,
            prompt_hash=prompt.prompt_hash,
            collection=request.collection,
            nothing_found=self.retrieved.nothing_found,
            index_generation=self.retrieved.generation,
            index_revision=self.retrieved.revision,
            finish_reason=finish_reason,
            usage=usage,
            cost=prices.cost(usage),
            timing=self.stages.timing_now(),
            dropped_turns=prompt.dropped_turns,
            messages=prompt.messages if request.include_prompt else None,
        )
