"""What a run asks a server outside the questions themselves: readiness, documents and prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from app.schemas.answer import Answer, AnswerRequest
from app.schemas.document import DocumentDetail, DocumentPage, DocumentView
from app.schemas.health import Readiness
from app.schemas.problem import Problem
from app.schemas.prompt import Prompt
from app.schemas.template import TemplateList
from corpus.api_key import VARIABLE, authorization
from experiments.errors import RequestRefused, ServerFailed

TIMEOUT_SECONDS = 300.0
"""For one request; a question may wait behind a full engine."""
LOOPBACK: Mapping[str, Any] = {"trust_env": False, "verify": False}
"""Plain HTTP to this machine: no proxy from the environment, and no certificates to load."""
PAGE = 500


class Client:
    """A typed client of one Openbook server."""

    def __init__(self, url: str) -> None:
        """Take the server's address, e.g. `http://127.0.0.1:8000`."""
        self.url = url
        self._http = httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS, headers=authorization(), **LOOPBACK)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._http.close()

    def is_ready(self) -> bool:
        """Say whether the server and its engine answer at the moment."""
        try:
            return self._http.get("/readyz", timeout=10.0).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def readiness(self) -> Readiness:
        """Return what is served.

        Raises:
            RequestRefused: The server wants an API key.
        """
        shown = self._get("/readyz")
        try:
            return Readiness.model_validate_json(shown)
        except ValidationError as error:
            raise RequestRefused(
                f"The server at {self.url} has API keys and does not say what it serves. Make one with `openbook keys "
                f"create NAME` and set {VARIABLE} to it."
            ) from error

    def documents(self, collection: str) -> Iterator[DocumentView]:
        """Yield every document of a collection, in the order of ids."""
        cursor: dict[str, str] = {}
        while True:
            text = self._get("/v1/documents", {"collection": collection, "limit": str(PAGE), **cursor})
            page = DocumentPage.model_validate_json(text)
            yield from page.documents
            if page.next_cursor is None:
                return
            cursor = {"cursor": page.next_cursor}

    def document(self, collection: str, document_id: str) -> DocumentDetail:
        """Return a document with its text and chunks."""
        text = self._get(f"/v1/documents/{quote(document_id)}", {"collection": collection})
        return DocumentDetail.model_validate_json(text)

    def prompt(self, request: AnswerRequest) -> Prompt:
        """Return the final prompt of a request, without an answer."""
        return Prompt.model_validate_json(self._send("POST", "/v1/prompts", json=request.model_dump(mode="json")))

    def answer(self, request: AnswerRequest) -> Answer:
        """Return the answer to a request."""
        return Answer.model_validate_json(self._send("POST", "/v1/answers", json=request.model_dump(mode="json")))

    def templates(self) -> TemplateList:
        """Return the templates of prompts."""
        return TemplateList.model_validate_json(self._get("/v1/prompts"))

    def _get(self, path: str, parameters: dict[str, str] | None = None) -> str:
        return self._send("GET", path, params=parameters)

    def _send(self, method: str, path: str, **content: Any) -> str:
        """Send a request and return the body.

        Raises:
            RequestRefused: The server answered with an error.
            ServerFailed: It did not answer.
        """
        try:
            response = self._http.request(method, path, **content)
        except httpx.TransportError as error:
            raise ServerFailed(f"The server at {self.url} is out of reach: {error}.") from error
        if response.is_error:
            raise RequestRefused(problem_of(response))
        return response.text


def problem_of(response: httpx.Response) -> str:
    """Return what an error response says: its problem's title and detail (RFC 9457), or its status and text."""
    try:
        problem = Problem.model_validate_json(response.text)
    except ValidationError:
        return f"HTTP {response.status_code}: {response.text[:300]}"
    return f"HTTP {response.status_code} {problem.title}: {problem.detail}"
