"""The heart: question, passages, prompt, generation, citations, answer.

Retrieval computes (it embeds the question) and runs in a thread pool; generation waits for the engine. A limit on the
questions in flight keeps the waiting short: a question that would have to wait too long is refused at once.

Where a search finds nothing, the engine is not asked: what it made up would look like an answer from the documents.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, aclosing, asynccontextmanager

from app.access.caller import Result, in_context
from app.access.guarded_index import GuardedIndex
from app.asked import Asked, Retrieved
from app.engine import Generation
from app.events import Event, Token, Trimmer
from app.evidence import find_evidence
from app.flow.admission import Admission
from app.flow.deadline import deadline
from app.policy import Policy
from app.pools import Pools
from app.prompting.assemble import Assembler
from app.prompting.template import Template
from app.retrieving import retrieve
from app.routing import Choice, Inquiry
from app.schemas.answer import Answer, AnswerRequest
from app.schemas.prompt import Prompt
from app.schemas.template import TemplateView
from app.settings import Settings
from app.stages import Stages
from app.telemetry import Telemetry


class Answerer:
    """Answers questions with one index and the engines of a table of pools."""

    def __init__(
        self,
        index: GuardedIndex,
        pools: Pools,
        telemetry: Telemetry,
        settings: Settings,
    ) -> None:
        """Take its parts.

        Args:
            index: The documents.
            pools: The engines, and what writes the prompts of their checkpoints.
            telemetry: What counts.
            settings: Limits, prompt and prices.

        Raises:
            PromptFileInvalid, PromptNotFound: Their prompts cannot be read, or they name one that does not exist.
        """
        self._index = index
        self._pools = pools
        self._telemetry = telemetry
        self._policy = Policy.of(settings)
        self._pool = ThreadPoolExecutor(settings.retrieval_threads, thread_name_prefix="retrieve")
        self._admission = Admission(settings.max_in_flight, settings.max_queued)
        telemetry.watch(self._admission)

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
            if not asked.prompt.answerable:
                return self._unanswered(asked)
            with asked.stages.timing("generate"):
                generation = await asked.lease.engine.generate(
                    asked.lease.checkpoint, asked.prompt.messages, request.decoding
                )
            return await self._finish(asked, generation)

    async def stream(self, request: AnswerRequest) -> AsyncGenerator[Event, None]:
        """Answer a question piece by piece; the last event is what `answer` returns. Raises as `answer` does.

        Closing the generator, which must be done in any case, ends the generation and frees its place.
        """
        async with self._asking(request) as asked:
            yield asked.retrieval()
            if not asked.prompt.answerable:
                answer = self._unanswered(asked)
                yield Token(text=answer.answer)
            else:
                generation = None
                async with aclosing(self._pieces(asked)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, Generation):
                            generation = piece
                        else:
                            yield piece
                assert generation is not None
                answer = await self._finish(asked, generation)
        for citation in answer.citations:
            yield citation
        yield answer

    async def prompt(self, request: AnswerRequest) -> Prompt:
        """Write the final prompt of a question; the engine is not needed. Raises as `answer` does."""
        async with deadline(self._policy.deadline_s, request.timeout_s):
            stages = Stages()
            retrieved, choice = await self._retrieved(request, stages)
            return self._prompt(request, retrieved, self._pools.assembler_of(choice.checkpoint), stages)

    def templates(self) -> list[TemplateView]:
        """Return the templates that a request can name."""
        default = self._policy.with_passages
        return [template.view(template is default) for template in self._policy.prompts]

    def close(self) -> None:
        """End the thread pool."""
        self._pool.shutdown()

    @asynccontextmanager
    async def _asking(self, request: AnswerRequest) -> AsyncIterator[Asked]:
        """Take a place among the questions being answered, and do all that comes before the engine."""
        stages = Stages()
        async with deadline(self._policy.deadline_s, request.timeout_s), self._admission.slot():
            stages.add("queue", stages.seconds())
            retrieved, choice = await self._retrieved(request, stages)
            with self._pools.lease(choice) as lease:
                prompt = self._prompt(request, retrieved, lease.assembler, stages)
                yield Asked(request, lease, prompt, retrieved, stages)

    async def _pieces(self, asked: Asked) -> AsyncGenerator[Token | Generation, None]:
        """Yield the engine's text as it comes, without the space around it, and at the end the whole."""
        trimmer, started, begun = Trimmer(), time.perf_counter(), False
        pieces = asked.lease.engine.stream(asked.lease.checkpoint, asked.prompt.messages, asked.request.decoding)
        with ExitStack() as generating:
            generating.enter_context(asked.stages.timing("generate"))
            async with aclosing(pieces):
                async for piece in pieces:
                    if isinstance(piece, Generation):
                        # Before what is made of it: that is no part of the generation.
                        generating.close()
                        yield piece
                        continue
                    if not begun:
                        begun = True
                        asked.stages.add("first_token", time.perf_counter() - started)
                    if text := trimmer.add(piece):
                        yield Token(text=text)

    async def _finish(self, asked: Asked, generation: Generation) -> Answer:
        text, passages = generation.text.strip(), asked.prompt.passages
        with asked.stages.timing("cite"):
            evidence = await self._in_pool(lambda: find_evidence(text, passages, self._index))
        answer = asked.answer(generation, evidence, self._policy.prices)
        self._telemetry.answered(answer)
        return answer

    def _unanswered(self, asked: Asked) -> Answer:
        answer = asked.unanswered(self._policy.unanswerable_text, self._policy.prices)
        self._telemetry.answered(answer)
        return answer

    def _prompt(self, request: AnswerRequest, retrieved: Retrieved, assembler: Assembler, stages: Stages) -> Prompt:
        with stages.timing("prompt"):
            if retrieved.nothing_found and not self._policy.answer_without_passages:
                return _unanswerable(self._policy.template(request.prompt, passages=True), retrieved)
            return assembler.assemble(
                self._policy.template(request.prompt, bool(retrieved.passages)),
                request.question,
                retrieved.passages,
                request.decoding.max_tokens,
                request.history,
            )

    async def _retrieved(self, request: AnswerRequest, stages: Stages) -> tuple[Retrieved, Choice]:
        """Return the passages, and which checkpoint reads them: a policy may go by how well they fit."""
        # A misspelt prompt or checkpoint costs no search.
        self._policy.template(request.prompt, passages=True)
        self._pools.pool_of(request.checkpoint)
        retrieved = Retrieved()
        if request.retriever != "none":
            started = time.perf_counter()
            retrieved = await self._in_pool(lambda: retrieve(self._index, request))
            searched = time.perf_counter() - started - retrieved.embed_seconds
            stages.add("embed", retrieved.embed_seconds, ended_ago=searched)
            stages.add("search", searched)
        scores = tuple(passage.score for passage in retrieved.passages)
        inquiry = Inquiry(request.question, request.retriever, scores)
        return retrieved, self._pools.choose(request.checkpoint, inquiry)

    async def _in_pool(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, in_context(work))


def _unanswerable(template: Template, retrieved: Retrieved) -> Prompt:
    return Prompt(
        messages=(),
        prompt=template.name,
        prompt_hash=template.hash,
        passages=(),
        answerable=False,
        nothing_found=retrieved.nothing_found,
    )
