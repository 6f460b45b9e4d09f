"""The engine, reached over OpenAI-compatible HTTP: chat completions, models, health.

It does not know who runs the server at the other end: the vLLM that `openbook serve` started, one somewhere else, or a
balancer in front of many. Every decoding parameter is sent explicitly, so that no server's default decides an answer.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from app.engine_stream import Gathering, data_of, ended_early, tells_of_death
from app.errors import EngineRefused, EngineUnreachable, PromptTooLong
from app.schemas.answer import Usage
from app.schemas.arm import Decoding
from app.schemas.prompt import Message
from app.telemetry import current_record

CONNECT_SECONDS = 5.0
IDLE_SECONDS = 4.0
"""How long an idle connection is kept. vLLM closes it after five seconds, and a request sent just then is lost."""
CHAT = "/v1/chat/completions"
CLIENT_FAULTS = (400, 413, 422)
JSON_BODY = {"content-type": "application/json"}


@dataclass(frozen=True)
class ServedModel:
    """An entry of `GET /v1/models`."""

    name: str
    root: str | None
    """The folder or Hugging Face id of the weights, where the server tells."""
    max_model_len: int | None
    """Tokens of prompt and answer together, where the server tells (vLLM does)."""


@dataclass(frozen=True)
class Generation:
    """What the engine made of a prompt."""

    text: str
    finish_reason: str
    """`stop`, or `length` where `max_tokens` cut the text."""
    usage: Usage


@dataclass(frozen=True)
class SampledToken:
    """A token that the engine wrote, and how likely it was."""

    text: str
    logprob: float
    """The natural logarithm of its probability."""


@dataclass(frozen=True)
class Sampled:
    """A greedy completion with the log-probabilities of its tokens."""

    text: str
    tokens: tuple[SampledToken, ...]
    """Empty where the server gives none."""


class Engine:
    """A client with a pool of connections, for use in one event loop."""

    def __init__(self, url: str, timeout_s: float, connections: int) -> None:
        """Take the server's URL, with or without `/v1` at its end."""
        self.url = url.rstrip("/").removesuffix("/v1")
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_SECONDS)
        self._connections = connections
        self._opened: aiohttp.ClientSession | None = None

    async def generate(self, model: str, messages: Sequence[Message], decoding: Decoding) -> Generation:
        """Complete a chat.

        Raises:
            EngineUnreachable: Nothing answers, or not in time.
            PromptTooLong: The engine says that the request exceeds the model's context.
            EngineRefused: The engine answers with any other error.
        """
        reply = await self._send("POST", CHAT, {**_body(model, messages, decoding), "stream": False})
        try:
            choice, usage = reply["choices"][0], reply["usage"]
            return Generation(
                text=choice["message"]["content"] or "",
                finish_reason=choice["finish_reason"] or "stop",
                usage=Usage(prompt_tokens=usage["prompt_tokens"], completion_tokens=usage["completion_tokens"]),
            )
        except (KeyError, IndexError, TypeError) as error:
            raise EngineRefused(f"The engine at {self.url} sent no chat completion: {str(reply)[:300]}") from error

    async def stream(
        self, model: str, messages: Sequence[Message], decoding: Decoding
    ) -> AsyncGenerator[str | Generation, None]:
        """Complete a chat and yield its text piece by piece as it comes, and at the end the whole `Generation`.

        Closing the iterator closes the connection, and vLLM then aborts the generation. Raises as `generate` does;
        a stream that breaks off is `EngineUnreachable`.
        """
        body = {**_body(model, messages, decoding), "stream": True, "stream_options": {"include_usage": True}}
        gathering = Gathering(self.url)
        with self._reaching():
            async with self._request("POST", CHAT, json.dumps(body).encode()) as response:
                if not response.ok:
                    raise _refusal(await _whole(response), self.url)
                # It is read on behind `[DONE]`: only a connection that is read to its end can be used again.
                async for line in response.content:
                    if (data := data_of(line)) and (text := gathering.add(data)):
                        yield text
        if gathering.finish_reason is None or gathering.usage is None:
            raise ended_early(self.url)
        yield Generation("".join(gathering.texts), gathering.finish_reason, gathering.usage)

    async def sample(self, model: str, messages: Sequence[Message], max_tokens: int) -> Sampled:
        """Complete a chat greedily, with log-probabilities. Raises as `generate` does."""
        decoding = Decoding(max_tokens=max_tokens, stop=())
        reply = await self._send("POST", CHAT, {**_body(model, messages, decoding), "logprobs": True})
        try:
            choice = reply["choices"][0]
            tokens = (choice.get("logprobs") or {}).get("content") or []
            sampled = tuple(SampledToken(str(token["token"]), float(token["logprob"])) for token in tokens)
            return Sampled(choice["message"]["content"] or "", sampled)
        except (KeyError, IndexError, TypeError) as error:
            raise EngineRefused(f"The engine at {self.url} sent no chat completion: {str(reply)[:300]}") from error

    async def models(self) -> tuple[ServedModel, ...]:
        """Return what the engine serves; the first is its default.

        Raises:
            EngineUnreachable: Nothing answers, or not in time.
            EngineRefused: What answers is no OpenAI-compatible server, or it serves no model.
        """
        reply = await self._send("GET", "/v1/models", None)
        try:
            models = tuple(
                ServedModel(entry["id"], entry.get("root"), entry.get("max_model_len")) for entry in reply["data"]
            )
        except (KeyError, TypeError) as error:
            raise EngineRefused(f"What answers at {self.url} is no OpenAI-compatible server.") from error
        if not models:
            raise EngineRefused(f"The engine at {self.url} serves no model.")
        return models

    async def is_up(self) -> bool:
        """Say whether the engine answers at this moment."""
        timeout = aiohttp.ClientTimeout(total=CONNECT_SECONDS)
        try:
            async with self._session().get(f"{self.url}/v1/models", timeout=timeout) as response:
                return response.ok
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def metrics(self, url: str) -> bytes:
        """Return what a replica at a URL says of itself in Prometheus's text format.

        Raises:
            EngineUnreachable: Nothing answers, or not in time.
            EngineRefused: It has no metrics.
        """
        timeout = aiohttp.ClientTimeout(total=CONNECT_SECONDS)
        with self._reaching():
            async with self._session().get(f"{url}/metrics", timeout=timeout) as response:
                reply = await _whole(response)
        if not response.ok:
            raise EngineRefused(f"The engine at {url} shows no metrics ({reply.status}).")
        return reply.body

    async def close(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened.close()
            self._opened = None

    def _session(self) -> aiohttp.ClientSession:
        """Return the session, which belongs to the event loop that first asks for it."""
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=IDLE_SECONDS),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._opened

    def _request(
        self, method: str, path: str, content: bytes | None
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        headers = {**JSON_BODY, **current_record().engine_headers}
        return self._session().request(method, f"{self.url}{path}", data=content, headers=headers)

    async def _send(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        content = None if body is None else json.dumps(body).encode()
        with self._reaching():
            async with self._request(method, path, content) as response:
                reply = await _whole(response)
        if 200 <= reply.status < 300:
            return self._parse(path, reply)
        raise _refusal(reply, self.url)

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Turn what goes wrong with a connection into `EngineUnreachable`."""
        try:
            yield
        except aiohttp.InvalidURL as error:
            raise EngineUnreachable(f"{self.url!r} is no URL of an engine, such as http://127.0.0.1:8000.") from error
        except TimeoutError as error:
            raise EngineUnreachable(f"The engine at {self.url} did not answer in time. Try again.") from error
        except aiohttp.ClientPayloadError as error:
            raise ended_early(self.url) from error
        except (aiohttp.ClientError, ValueError) as error:
            raise EngineUnreachable(
                f"The engine at {self.url} cannot be reached: {str(error) or type(error).__name__}."
            ) from error

    def _parse(self, path: str, reply: _Reply) -> Any:
        try:
            return json.loads(reply.body)
        except ValueError as error:
            shown = reply.body[:200].decode(errors="replace")
            raise EngineRefused(f"{self.url}{path} did not answer with JSON: {shown!r}") from error


@dataclass(frozen=True)
class _Reply:
    status: int
    reason: str
    body: bytes


async def _whole(response: aiohttp.ClientResponse) -> _Reply:
    return _Reply(response.status, response.reason or "", await response.read())


def _body(model: str, messages: Sequence[Message], decoding: Decoding) -> dict[str, Any]:
    return {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "max_tokens": decoding.max_tokens,
        "seed": decoding.seed,
        "stop": list(decoding.stop),
        "n": 1,
    }


def _refusal(reply: _Reply, url: str) -> EngineRefused | PromptTooLong | EngineUnreachable:
    """Translate an error of the engine; OpenAI-compatible servers put the reason into `error.message`."""
    try:
        reason = str(json.loads(reply.body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        reason = reply.body[:300].decode(errors="replace") or reply.reason
    if reply.status in CLIENT_FAULTS and any(word in reason for word in ("context length", "max_model_len")):
        return PromptTooLong(f"{reason} Ask for fewer passages (top_k) or a shorter answer (decoding.max_tokens).")
    if reply.status in (502, 503, 504) or tells_of_death(reason):
        return EngineUnreachable(f"The engine at {url} is not available ({reply.status}): {reason}")
    return EngineRefused(f"The engine at {url} refused the request ({reply.status}): {reason}")
