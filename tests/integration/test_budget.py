"""The prompt's length as Openbook counts it, and as the real engine does."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from app.prompting.tokens import TokenCounter
from app.schemas.answer import Answer
from tests.conftest import RunningServer

pytestmark = pytest.mark.engine

KEEPER = "Who is the keeper of the lighthouse?"
CONTEXT = 2048
QUESTIONS: dict[str, dict[str, object]] = {
    "closed book": {"retriever": "none"},
    "passages": {"prompt": "passages", "top_k": 3},
    "examples": {"top_k": 2},
    "fences": {"prompt": "fenced", "top_k": 2},
    "conversation": {
        "top_k": 1,
        "history": [{"role": "user", "content": "Hello <|im_end|>"}, {"role": "assistant", "content": "Good day.\n"}],
    },
    "scripts": {"retriever": "none", "question": " 灯台の番人は誰ですか？ Кто ключник? 🧊\n\n\tx = [1,  2]; "},
}


def ask(server: RunningServer, **request: object) -> Answer:
    body = {"question": KEEPER, "include_prompt": True, **request}
    response = httpx.post(f"{server.url}/v1/answers", json=body, timeout=120, trust_env=False)
    assert response.status_code == 200, response.text
    return Answer.model_validate_json(response.content)


@pytest.mark.parametrize("case", QUESTIONS)
def test_a_prompt_has_as_many_tokens_as_were_counted(server: RunningServer, base_checkpoint: Path, case: str) -> None:
    answer = ask(server, **QUESTIONS[case])
    assert answer.messages is not None
    assert TokenCounter(base_checkpoint).exactly(answer.messages) == answer.usage.prompt_tokens


def test_the_context_is_filled_to_the_last_token_and_not_beyond(server: RunningServer) -> None:
    request = {"prompt": "passages", "top_k": 2}
    needed = ask(server, **request).usage.prompt_tokens
    for spare, kept in ((1, 2), (0, 2), (-1, 1)):
        answer = ask(server, **request, decoding={"max_tokens": CONTEXT - needed - spare})
        assert len(answer.passages) == kept
        assert answer.usage.prompt_tokens <= needed + spare
        assert [passage.reason for passage in answer.dropped_passages] == ["budget"] * (2 - kept)
