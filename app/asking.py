"""The client side of `openbook ask`: one request to a running server, and its answer written for a person."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import httpx
from pydantic import ValidationError

from app.errors import EngineUnreachable, ServerUnreachable
from app.schemas.answer import Answer
from app.schemas.passage import Citation, NothingFound, Passage
from app.schemas.problem import Problem
from corpus.api_key import authorization
from corpus.errors import UsageError

JSON = {"content-type": "application/json"}
TIMEOUT_S = 300.0
SNIPPET_CHARACTERS = 160
CONTEXT_CHARACTERS = 60
NOTHING_FOUND: dict[NothingFound, str] = {
    "empty_collection": "the collection holds no documents yet",
    "filter_matches_nothing": "the filter, or the day, leaves none",
    "no_word_found": "none shares a word with the question",
    "below_threshold": "none is near enough to the question",
}


class AnswerRefused(UsageError):
    """The server says that the request is wrong; the message is the detail of its problem."""


def ask_server(url: str, request: dict[str, Any]) -> Answer:
    """Send a question.

    Raises:
        ServerUnreachable: No Openbook server answers at `url`.
        AnswerRefused: The server says that the request is wrong.
        EngineUnreachable: The server has no engine.
    """
    url = url.rstrip("/")
    try:
        headers = {**JSON, **authorization()}
        content = json.dumps(request).encode()
        response = httpx.post(f"{url}/v1/answers", content=content, headers=headers, timeout=TIMEOUT_S, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ServerUnreachable(
            f"No server answers at {url}. Start one in another terminal with `openbook serve`, wait for its "
            '"Ready" line, or name a running one with --url.'
        ) from error
    try:
        if response.is_success:
            return Answer.model_validate_json(response.content)
        problem = Problem.model_validate_json(response.content)
    except ValidationError as error:
        raise ServerUnreachable(f"What answers at {url} is no Openbook server ({response.status_code}).") from error
    raise EngineUnreachable(problem.detail) if problem.status >= 500 else AnswerRefused(problem.detail)


def describe(answer: Answer) -> str:
    """Return the answer and its numbered sources as text: the citations, or the passages read where it cites none."""
    lines = [answer.answer or "(The model gave an empty answer.)"]
    if answer.nothing_found:
        lines += ["", f"No passages were found: {NOTHING_FOUND[answer.nothing_found]}."]
    elif answer.citations:
        lines += ["", "Sources"]
        passages = {passage.id: passage for passage in answer.passages}
        lines += [_cited(citation, passages[citation.passage_id]) for citation in answer.citations]
    elif answer.passages:
        lines += ["", "The answer's words stand in none of the passages that were read:"]
        lines += [_read(passage) for passage in answer.passages]
    return "\n".join(lines)


def _cited(citation: Citation, passage: Passage) -> str:
    """Show the quote in the words around it."""
    start, end = citation.start - passage.start, citation.end - passage.start
    before = passage.text[max(0, start - CONTEXT_CHARACTERS) : start]
    after = passage.text[end : end + CONTEXT_CHARACTERS]
    if start > CONTEXT_CHARACTERS:
        before = "… " + before.partition(" ")[2]
    if end + CONTEXT_CHARACTERS < len(passage.text):
        after = after.rpartition(" ")[0] + " …"
    return f"  [{citation.label}] {_where(citation)}\n{_indented(f'{before}«{citation.quote}»{after}')}"


def _read(passage: Passage) -> str:
    snippet = textwrap.shorten(passage.text, SNIPPET_CHARACTERS, placeholder=" …")
    return f"  [{passage.label}] {_where(passage)}\n{_indented(snippet)}"


def _where(source: Citation | Passage) -> str:
    return f"{source.document_id} ({source.title})" if source.title else source.document_id


def _indented(text: str) -> str:
    return textwrap.indent(textwrap.fill(" ".join(text.split()), width=92), "      ")
