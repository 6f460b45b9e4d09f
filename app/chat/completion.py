"""From a request in OpenAI's form to a question, and from its answer to completions and chunks in OpenAI's form."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from app.chat.arms import Arm
from app.chat.request import ChatRequest
from app.events import Event, Retrieval, Token
from app.schemas.answer import Answer, AnswerRequest

DONE = b"data: [DONE]\n\n"
OUTSIDE = {"id", "question", "answer", "finish_reason", "usage", "messages"}
"""What OpenAI's form has a place for already."""


def question_of(request: ChatRequest, arm: Arm) -> AnswerRequest:
    """Return the question that the last message asks, with the turns before it as its history.

    Raises:
        pydantic.ValidationError: The options do not go together.
    """
    *earlier, last = request.messages
    return AnswerRequest.model_validate(
        {
            "question": last.text,
            "history": [
                {"role": "system" if turn.role == "developer" else turn.role, "content": turn.text} for turn in earlier
            ],
            "checkpoint": arm.checkpoint,
            "retriever": arm.retriever,
            "decoding": request.decoding(),
            **(request.openbook.model_dump() if request.openbook else {}),
        }
    )


class Writer:
    """Writes one completion: whole, or in chunks."""

    def __init__(self, arm: Arm, include_usage: bool) -> None:
        """Take the arm, and whether a stream ends with a chunk of token counts."""
        self._arm = arm
        self._include_usage = include_usage
        self._created = int(time.time())

    def whole(self, answer: Answer) -> dict[str, Any]:
        """Return a `chat.completion`."""
        message = {"role": "assistant", "content": answer.answer, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish_reason}
        return {
            **self._head(answer.id, "chat.completion"),
            "choices": [choice],
            "usage": _usage(answer),
            "openbook": _evidence(answer),
        }

    async def frames(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[bytes, None]:
        """Yield the chunks as server-sent events: the role, the text, the end with its evidence, and the usage.

        Nothing is said before the engine has begun, so that its refusal is still a status.
        """
        chunk_id, begun = "", False
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Retrieval):
                    chunk_id = event.id
                if isinstance(event, Token | Answer) and not begun:
                    begun = True
                    yield self._chunk(chunk_id, {"role": "assistant", "content": "", "refusal": None})
                if isinstance(event, Token):
                    yield self._chunk(chunk_id, {"content": event.text})
                if isinstance(event, Answer):
                    yield self._chunk(chunk_id, {}, event.finish_reason, {"openbook": _evidence(event)})
                    if self._include_usage:
                        yield _data({**self._head(chunk_id, CHUNK), "choices": [], "usage": _usage(event)})
        yield DONE

    def _chunk(
        self, chunk_id: str, delta: dict[str, Any], finish_reason: str | None = None, more: dict[str, Any] | None = None
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self._include_usage else {}
        return _data({**self._head(chunk_id, CHUNK), "choices": [choice], **usage, **(more or {})})

    def _head(self, answer_id: str, kind: str) -> dict[str, Any]:
        return {
            "id": answer_id.replace("answer-", "chatcmpl-", 1),
            "object": kind,
            "created": self._created,
            "model": self._arm.name,
        }


CHUNK = "chat.completion.chunk"


def _usage(answer: Answer) -> dict[str, int]:
    prompt, completion = answer.usage.prompt_tokens, answer.usage.completion_tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _evidence(answer: Answer) -> dict[str, Any]:
    return answer.model_dump(mode="json", exclude=OUTSIDE)


def _data(chunk: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()
