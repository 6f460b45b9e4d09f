"""The engine's server-sent events: from bytes to the pieces of a chat completion."""

from __future__ import annotations

import json
from typing import Any

from app.errors import EngineRefused, EngineUnreachable
from app.schemas.answer import Usage

DATA = b"data:"
DONE = b"[DONE]"
DEATH = ("EngineCore", "EngineDead", "error sending request")
"""In errors of status 500: vLLM's when its engine process was killed, vllm-router's when it reached no replica."""


def data_of(line: bytes) -> bytes | None:
    """Return the data of a line of events; an OpenAI-compatible server writes each event as one line of it."""
    data = line[len(DATA) :].strip() if line.startswith(DATA) else b""
    return data if data and data != DONE else None


class Gathering:
    """What has come of a completion so far."""

    def __init__(self, url: str) -> None:
        """Begin with nothing; the URL is for messages."""
        self.texts: list[str] = []
        self.finish_reason: str | None = None
        self.usage: Usage | None = None
        self._url = url

    def add(self, data: bytes) -> str:
        """Take in a chunk and return its text, which may be empty.

        Raises:
            EngineUnreachable: The engine says that it has died.
            EngineRefused: It is another error, or no chunk of a chat completion.
        """
        try:
            chunk = json.loads(data)
            if "error" in chunk:
                raise self._broken_off(_message(chunk["error"]))
            return self._take(chunk)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            shown = data[:200].decode(errors="replace")
            raise EngineRefused(f"The engine at {self._url} sent no chunk of a chat completion: {shown!r}") from error

    def _broken_off(self, reason: str) -> EngineRefused | EngineUnreachable:
        if tells_of_death(reason):
            return ended_early(self._url)
        return EngineRefused(f"The engine at {self._url} broke off: {reason}")

    def _take(self, chunk: dict[str, Any]) -> str:
        if usage := chunk.get("usage"):
            self.usage = Usage(
                prompt_tokens=usage["prompt_tokens"], completion_tokens=usage.get("completion_tokens") or 0
            )
        if not chunk["choices"]:
            return ""
        [choice] = chunk["choices"]
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        text = choice["delta"].get("content") or ""
        self.texts.append(text)
        return str(text)


def tells_of_death(reason: str) -> bool:
    """Say whether an error means that the engine behind the server is gone, which trying again may mend."""
    return any(word in reason for word in DEATH)


def ended_early(url: str) -> EngineUnreachable:
    """Return the error for an answer whose end never came."""
    return EngineUnreachable(f"The engine at {url} broke off in the middle of the answer. Try again.")


def _message(error: Any) -> str:
    return str(error.get("message", error) if isinstance(error, dict) else error)
