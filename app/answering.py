"""The heart: question, passages, prompt, generation, citations, answer.

Retrieval computes (it embeds the question) and runs in a thread pool; generation waits for the engine. A limit on the
questions in flight keeps the waiting short: a question that would have to wait too long is refused at once.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass

import terminal
from app.citations import cite
from app.engine import Engine
from app.errors import CheckpointNotServed, Overloaded
from app.prompting.assemble import Assembler, find_prompt
from app.schemas import Answer, AnswerRequest, NothingFound, Passage, Prompt, Timing
from app.telemetry import Telemetry
from indexer.index import Index
from indexer.search.hits import Hit
from indexer.search.options import SearchOptions

WITHOUT_PASSAGES = find_prompt("closed_book")


@dataclass(frozen=True)
class Retrieved:
    """The passages of a question, and which state of the index was searched."""

    passages: tuple[Passage, ...]
    generation: int | None
    revision: int | None = None
    nothing_found: NothingFound | None = None


class Answerer:
    """Answers questions with one index and one engine."""

    def __init__(
        self,
        index: Index,
        engine: Engine,
        assemblers: dict[str, Assembler],
        telemetry: Telemetry,
        *,
        prompt: str = "worked_examples",
        max_in_flight: int = 64,
        retrieval_threads: int = 16,
    ) -> None:
        """Take its parts.

        Args:
            index: The documents.
            engine: The model.
            assemblers: For each checkpoint that the engine serves, what writes its prompts; the first is the default.
            telemetry: What counts.
            prompt: Name of the prompt where there are passages and the request names none.
            max_in_flight: Questions answered at the same time; as many again may wait.
            retrieval_threads: Questions searched for at the same time.
        """
        self._index = index
        self._with_passages = find_prompt(prompt)
        self._engine = engine
        self._assemblers = assemblers
        self._telemetry = telemetry
        self._pool = ThreadPoolExecutor(retrieval_threads, thread_name_prefix="retrieve")
        self._slots = asyncio.Semaphore(max_in_flight)
        self._most_present = 2 * max_in_flight
        self._present = 0

    async def answer(self, request: AnswerRequest) -> Answer:
        """Answer a question.

        Raises:
            CheckpointNotServed, PromptNotFound, PromptTooLong: The request asks for what is not there.
            Overloaded: Too many questions wait already.
            EngineUnreachable, EngineRefused: The engine is at fault.
            indexer.errors.NotFound: The index holds no such collection or passage.
        """
        started = time.perf_counter()
        async with self._slot():
            checkpoint = self._checkpoint(request.checkpoint)
            prompt, retrieved, retrieve_ms = await self._prompt(request, checkpoint)
            generating = time.perf_counter()
            generation = await self._engine.generate(checkpoint, prompt.messages, request.decoding)
            generate_ms = _milliseconds_since(generating)
        text = generation.text.strip()
        self._telemetry.answered(retrieve_ms, generate_ms, generation.usage)
        return Answer(
            id=f"answer-{uuid.uuid4().hex}",
            question=request.question,
            answer=text,
            citations=cite(text, prompt.passages),
            passages=prompt.passages,
            checkpoint=checkpoint,
            retriever=request.retriever,
            prompt=prompt.prompt,
            collection=request.collection,
            nothing_found=retrieved.nothing_found,
            index_generation=retrieved.generation,
            index_revision=retrieved.revision,
            finish_reason=generation.finish_reason,
            usage=generation.usage,
            timing=Timing(retrieve_ms=retrieve_ms, generate_ms=generate_ms, total_ms=_milliseconds_since(started)),
            messages=prompt.messages if request.include_prompt else None,
        )

    async def prompt(self, request: AnswerRequest) -> Prompt:
        """Write the final prompt of a question; the engine is not needed. Raises as `answer` does."""
        prompt, _, _ = await self._prompt(request, self._checkpoint(request.checkpoint))
        return prompt

    def close(self) -> None:
        """End the thread pool."""
        self._pool.shutdown()

    async def _prompt(self, request: AnswerRequest, checkpoint: str) -> tuple[Prompt, Retrieved, float]:
        started = time.perf_counter()
        # A misspelt prompt costs no search.
        asked_for = find_prompt(request.prompt) if request.prompt else None
        retrieved = Retrieved((), None)
        if request.retriever != "none":
            loop = asyncio.get_running_loop()
            retrieved = await loop.run_in_executor(self._pool, self._retrieve, request)
        template = asked_for or (self._with_passages if retrieved.passages else WITHOUT_PASSAGES)
        assembler = self._assemblers[checkpoint]
        prompt = assembler.assemble(template, request.question, retrieved.passages, request.decoding.max_tokens)
        return prompt, retrieved, _milliseconds_since(started)

    def _retrieve(self, request: AnswerRequest) -> Retrieved:
        if request.retriever == "given":
            hits: Sequence[Hit] = self._index.passages(request.passage_ids)
            return Retrieved(_label(hits), None)
        result = self._index.search(request.collection, request.question, request.top_k, _options(request))
        return Retrieved(_label(result.hits), result.generation, result.revision, result.reason)

    def _checkpoint(self, wanted: str | None) -> str:
        served = list(self._assemblers)
        if wanted is None:
            return served[0]
        if wanted not in served:
            raise CheckpointNotServed(
                f"Checkpoint {wanted!r} is not served here.{terminal.did_you_mean(wanted, served)} "
                f"Served: {', '.join(served)}. Start another server with `openbook serve --model {wanted}`."
            )
        return wanted

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        if self._present >= self._most_present:
            raise Overloaded(f"{self._present} questions are being answered or wait. Try again in a moment.")
        self._present += 1
        try:
            async with self._slots:
                yield
        finally:
            self._present -= 1


def _options(request: AnswerRequest) -> SearchOptions:
    return SearchOptions(
        retriever=request.retriever,
        filter=request.filter,
        as_of=request.as_of,
        min_score=request.min_score,
        mmr=request.mmr,
        collapse=request.collapse,
        per_document=request.per_document,
        superseded=request.superseded,
    )


def _label(hits: Sequence[Hit]) -> tuple[Passage, ...]:
    """Number the passages from 1, in the order of the prompt."""
    return tuple(
        Passage(
            label=label,
            id=hit.chunk_id,
            document_id=hit.document_id,
            title=hit.title,
            source=hit.source,
            text=hit.text,
            start=hit.start,
            end=hit.end,
            score=hit.score,
            page=hit.page,
            authority=hit.authority,
            effective=hit.effective,
            superseded_by=hit.superseded_by,
        )
        for label, hit in enumerate(hits, 1)
    )


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
