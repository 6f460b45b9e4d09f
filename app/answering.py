"""The heart: question, passages, prompt, generation, citations, answer.

Retrieval computes (it embeds the question) and runs in a thread pool; generation waits for the engine. A limit on the
questions in flight keeps the waiting short: a question that would have to wait too long is refused at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager

from app.access.caller import in_context
from app.access.guarded_index import GuardedIndex
from app.asked import Asked, Retrieved, milliseconds_since
from app.engine import Generation
from app.events import Event, Token, Trimmer
from app.flow.admission import Admission
from app.flow.deadline import deadline
from app.pools import Pools
from app.prompting.assemble import Assembler, find_prompt
from app.routing import Choice, Inquiry
from app.schemas.answer import Answer, AnswerRequest
from app.schemas.passage import Passage
from app.schemas.prompt import Prompt
from app.telemetry import Telemetry
from indexer.search.hits import Hit
from indexer.search.options import SearchOptions

WITHOUT_PASSAGES = find_prompt("closed_book")


class Answerer:
    """Answers questions with one index and the engines of a table of pools."""

    def __init__(
        self,
        index: GuardedIndex,
        pools: Pools,
        telemetry: Telemetry,
        *,
        prompt: str = "worked_examples",
        max_in_flight: int = 64,
        max_queued: int = 64,
        deadline_s: float = 120.0,
        retrieval_threads: int = 16,
    ) -> None:
        """Take its parts.

        Args:
            index: The documents.
            pools: The engines, and what writes the prompts of their checkpoints.
            telemetry: What counts.
            prompt: Name of the prompt where there are passages and the request names none.
            max_in_flight: Questions answered at the same time.
            max_queued: Questions that may wait for that.
            deadline_s: The most that a question may take, waiting included.
            retrieval_threads: Questions searched for at the same time.
        """
        self._index = index
        self._with_passages = find_prompt(prompt)
        self._pools = pools
        self._telemetry = telemetry
        self._pool = ThreadPoolExecutor(retrieval_threads, thread_name_prefix="retrieve")
        self._admission = Admission(max_in_flight, max_queued)
        self._deadline_s = deadline_s

    async def answer(self, request: AnswerRequest) -> Answer:
        """Answer a question.

        Raises:
            CheckpointNotServed, PromptNotFound, PromptTooLong: The request asks for what is not there.
            Overloaded: Too many questions wait already.
            DeadlineExceeded, TimeoutTooLong: It took longer than it may, or wants more time than there is.
            EngineFailed, EngineUnreachable, EngineRefused: The engine is at fault.
            indexer.errors.NotFound: The index holds no such collection or passage.
        """
        async with self._asking(request) as asked:
            generation = await asked.lease.engine.generate(
                asked.lease.checkpoint, asked.prompt.messages, request.decoding
            )
            return self._finish(asked, generation)

    async def stream(self, request: AnswerRequest) -> AsyncGenerator[Event, None]:
        """Answer a question piece by piece; the last event is what `answer` returns. Raises as `answer` does.

        Closing the generator, which must be done in any case, ends the generation and frees its place.
        """
        async with self._asking(request) as asked:
            yield asked.retrieval()
            trimmer = Trimmer()
            pieces = asked.lease.engine.stream(asked.lease.checkpoint, asked.prompt.messages, request.decoding)
            async with aclosing(pieces):
                async for piece in pieces:
                    if isinstance(piece, Generation):
                        answer = self._finish(asked, piece)
                    elif text := trimmer.add(piece):
                        yield Token(text=text)
        for citation in answer.citations:
            yield citation
        yield answer

    async def prompt(self, request: AnswerRequest) -> Prompt:
        """Write the final prompt of a question; the engine is not needed. Raises as `answer` does."""
        async with deadline(self._deadline_s, request.timeout_s):
            retrieved, choice = await self._retrieved(request)
            return self._prompt(request, retrieved, self._pools.assembler_of(choice.checkpoint))

    def close(self) -> None:
        """End the thread pool."""
        self._pool.shutdown()

    @asynccontextmanager
    async def _asking(self, request: AnswerRequest) -> AsyncIterator[Asked]:
        """Take a place among the questions being answered, and do all that comes before the engine."""
        started = time.perf_counter()
        async with deadline(self._deadline_s, request.timeout_s), self._admission.slot():
            retrieving = time.perf_counter()
            retrieved, choice = await self._retrieved(request)
            with self._pools.lease(choice) as lease:
                prompt = self._prompt(request, retrieved, lease.assembler)
                yield Asked(request, lease, prompt, retrieved, milliseconds_since(retrieving), started)

    def _finish(self, asked: Asked, generation: Generation) -> Answer:
        answer = asked.answer(generation)
        self._telemetry.answered(answer.timing.retrieve_ms, answer.timing.generate_ms, generation.usage)
        return answer

    async def _retrieved(self, request: AnswerRequest) -> tuple[Retrieved, Choice]:
        """Return the passages, and which checkpoint reads them: a policy may go by how well they fit."""
        # A misspelt prompt or checkpoint costs no search.
        if request.prompt:
            find_prompt(request.prompt)
        self._pools.pool_of(request.checkpoint)
        retrieved = Retrieved((), None)
        if request.retriever != "none":
            loop = asyncio.get_running_loop()
            retrieved = await loop.run_in_executor(self._pool, in_context(lambda: self._retrieve(request)))
        scores = tuple(passage.score for passage in retrieved.passages)
        inquiry = Inquiry(request.question, request.retriever, scores)
        return retrieved, self._pools.choose(request.checkpoint, inquiry)

    def _prompt(self, request: AnswerRequest, retrieved: Retrieved, assembler: Assembler) -> Prompt:
        template = self._with_passages if retrieved.passages else WITHOUT_PASSAGES
        return assembler.assemble(
            find_prompt(request.prompt) if request.prompt else template,
            request.question,
            retrieved.passages,
            request.decoding.max_tokens,
            request.history,
        )

    def _retrieve(self, request: AnswerRequest) -> Retrieved:
        if request.retriever == "given":
            hits: Sequence[Hit] = self._index.passages(request.passage_ids)
            return Retrieved(_label(hits), None)
        result = self._index.search(request.collection, request.question, request.top_k, _options(request))
        return Retrieved(_label(result.hits), result.generation, result.revision, result.reason)


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
            context=hit.context,
            heading_path=hit.heading_path,
            page=hit.page,
            authority=hit.authority,
            effective=hit.effective,
            superseded_by=hit.superseded_by,
        )
        for label, hit in enumerate(hits, 1)
    )
