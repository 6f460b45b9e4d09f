"""A question whose prompt is written, and the answer that it becomes with what the engine made of it."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field

from app.citations import cite
from app.engine import Generation
from app.events import Retrieval
from app.pools import Lease
from app.schemas.answer import Answer, AnswerRequest, NothingFound, Routed, Timing
from app.schemas.passage import Passage
from app.schemas.prompt import Prompt


@dataclass(frozen=True)
class Retrieved:
    """The passages of a question, and which state of the index was searched."""

    passages: tuple[Passage, ...]
    generation: int | None
    revision: int | None = None
    nothing_found: NothingFound | None = None


@dataclass(frozen=True)
class Asked:
    """All that an answer says beside the engine's part."""

    request: AnswerRequest
    lease: Lease
    prompt: Prompt
    retrieved: Retrieved
    retrieve_ms: float
    started: float
    """When the question came, by `time.perf_counter`."""
    generating: float = field(default_factory=time.perf_counter)
    """When the engine's part began."""
    id: str = field(default_factory=lambda: f"answer-{uuid.uuid4().hex}")

    def retrieval(self) -> Retrieval:
        """Return the first event of the answer as a stream."""
        return Retrieval(
            id=self.id,
            checkpoint=self.lease.checkpoint,
            retriever=self.request.retriever,
            collection=self.request.collection,
            prompt=self.prompt.prompt,
            passages=self.prompt.passages,
            dropped_passages=self.prompt.dropped_passages,
            nothing_found=self.retrieved.nothing_found,
            index_generation=self.retrieved.generation,
            index_revision=self.retrieved.revision,
            retrieve_ms=self.retrieve_ms,
        )

    def answer(self, generation: Generation) -> Answer:
        """Return the answer: the text without the space around it, and where it rests in the passages."""
        request, prompt, text = self.request, self.prompt, generation.text.strip()
        generate_ms = milliseconds_since(self.generating)
        return Answer(
            id=self.id,
            question=request.question,
            answer=text,
            citations=cite(text, prompt.passages),
            passages=prompt.passages,
            checkpoint=self.lease.checkpoint,
            routed=Routed(pool=self.lease.pool, reason=self.lease.choice.reason),
            retriever=request.retriever,
            prompt=prompt.prompt,
            collection=request.collection,
            nothing_found=self.retrieved.nothing_found,
            index_generation=self.retrieved.generation,
            index_revision=self.retrieved.revision,
            finish_reason=generation.finish_reason,
            usage=generation.usage,
            timing=Timing(
                retrieve_ms=self.retrieve_ms, generate_ms=generate_ms, total_ms=milliseconds_since(self.started)
            ),
            dropped_turns=prompt.dropped_turns,
            messages=prompt.messages if request.include_prompt else None,
        )


def milliseconds_since(started: float) -> float:
    """Return the time since a reading of `time.perf_counter`."""
    return round((time.perf_counter() - started) * 1000, 3)
