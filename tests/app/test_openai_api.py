"""`/v1/chat/completions` and `/v1/models`, as the official client of OpenAI's API uses them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionChunk

from app.access.keyring import create_key
from app.engine import ServedModel
from app.schemas.answer import Answer
from tests.app.conftest import Serve
from tests.app.openai_server import MODEL, OpenAiServer
from tests.waiting import wait_for

KEEPER = "Who is the keeper of the lighthouse?"
ASKED: list[Any] = [{"role": "user", "content": KEEPER}]
Client = Callable[..., openai.OpenAI]


@pytest.fixture
def connect() -> Iterator[Client]:
    """Return a function that makes an official client for an app."""
    with ExitStack() as stack:

        def client(api: httpx.Client, **options: Any) -> openai.OpenAI:
            transport = stack.enter_context(httpx.Client(trust_env=False, timeout=20))
            address = {"base_url": f"{api.base_url}/v1", "api_key": "none", "max_retries": 0}
            return openai.OpenAI(**{**address, **options}, http_client=transport)

        yield client


@pytest.fixture
def client(api: httpx.Client, connect: Client) -> openai.OpenAI:
    return connect(api)


def text_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def test_every_arm_of_every_served_checkpoint_is_a_model_and_the_first_is_the_default(
    serve: Serve, connect: Client
) -> None:
    served = (ServedModel(MODEL, None, 512), ServedModel("taught@2", None, 512))
    client = connect(serve(served=served))
    models = {model.id: model.to_dict()["openbook"] for model in client.models.list()}
    names = ("rag", "rag_lexical", "rag_hybrid", "closed_book")
    assert list(models) == [f"{prefix}/{name}" for prefix in ("openbook", MODEL, "taught@2") for name in names]
    assert [name for name, shown in models.items() if shown["default"]] == ["openbook/rag"]
    assert models["openbook/closed_book"] == {"checkpoint": MODEL, "retriever": "none", "default": False}
    assert models["taught@2/rag_lexical"] == {"checkpoint": "taught@2", "retriever": "lexical", "default": False}
    assert client.models.retrieve("taught@2/rag").id == "taught@2/rag"


def test_a_model_answers_with_its_checkpoint_and_retriever(serve: Serve, connect: Client, engine: OpenAiServer) -> None:
    client = connect(serve(served=(ServedModel(MODEL, None, 512), ServedModel("taught@2", None, 512))))
    done = client.chat.completions.create(model="taught@2/closed_book", messages=ASKED)
    assert engine.requests[-1]["model"] == "taught@2"
    assert (done.model, done.to_dict()["openbook"]["retriever"]) == ("taught@2/closed_book", "none")


def test_a_completion_carries_text_usage_and_evidence(
    client: openai.OpenAI, api: httpx.Client, engine: OpenAiServer
) -> None:
    done = client.chat.completions.create(model="openbook/rag", messages=ASKED)
    answer = Answer.model_validate_json(api.post("/v1/answers", json={"question": KEEPER}).content)
    [choice] = done.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", "Orla Venn", "stop")
    assert done.usage is not None
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.usage.total_tokens) == (90, 3, 93)
    evidence = done.to_dict()["openbook"]
    assert evidence["citations"] == [citation.model_dump(mode="json") for citation in answer.citations]
    assert evidence["passages"] == [passage.model_dump(mode="json") for passage in answer.passages]
    assert done.id.startswith("chatcmpl-")
    assert engine.requests[0] == engine.requests[1]


@pytest.mark.parametrize("model", ["openbook/rag", "openbook/closed_book", "openbook/rag_hybrid"])
@pytest.mark.parametrize("text", ["Orla Venn", " the keeper\tis Orla \n", ""])
def test_a_stream_puts_together_what_a_completion_holds(
    client: openai.OpenAI, engine: OpenAiServer, model: str, text: str
) -> None:
    engine.text = text
    whole = client.chat.completions.create(model=model, messages=ASKED)
    chunks = list(client.chat.completions.create(model=model, messages=ASKED, stream=True))
    assert text_of(chunks) == whole.choices[0].message.content == text.strip()
    first, *middle, last = chunks
    assert (first.choices[0].delta.role, first.choices[0].delta.content) == ("assistant", "")
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert all(chunk.choices[0].delta.role is None for chunk in middle)
    assert {(chunk.id, chunk.model, chunk.object) for chunk in chunks} == {(first.id, model, "chat.completion.chunk")}
    assert last.to_dict()["openbook"]["citations"] == whole.to_dict()["openbook"]["citations"]
    assert all(chunk.usage is None for chunk in chunks)


def test_the_last_chunk_holds_the_usage_where_it_is_asked_for(client: openai.OpenAI) -> None:
    chunks = list(
        client.chat.completions.create(
            model="openbook/rag", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    *others, last = chunks
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.total_tokens == 93
    assert all(chunk.usage is None for chunk in others)


def test_the_bytes_of_a_stream_end_with_done(api: httpx.Client) -> None:
    response = api.post("/v1/chat/completions", json={"messages": ASKED, "stream": True})
    lines = [line for line in response.text.split("\n") if line]
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert all(line.startswith("data: {") for line in lines[:-1])
    assert lines[-1] == "data: [DONE]"


def test_a_client_that_streams_with_the_helper_gets_a_whole_completion(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(model="openbook/rag", messages=ASKED) as stream:
        done = stream.get_final_completion()
    assert (done.choices[0].message.content, done.choices[0].finish_reason) == ("Orla Venn", "stop")


def test_a_conversation_asks_its_last_message_and_shows_the_turns_before_it(
    serve: Serve, connect: Client, engine: OpenAiServer
) -> None:
    client = connect(serve(served=(ServedModel(MODEL, None, 2048),)))
    messages: list[Any] = [{"role": "developer", "content": "Answer in capitals."}, *ASKED]
    done = client.chat.completions.create(model="openbook/rag", messages=messages)
    messages += [done.choices[0].message, {"role": "user", "content": [{"type": "text", "text": "What is a ticket?"}]}]
    done = client.chat.completions.create(
        model="openbook/rag", messages=messages, extra_body={"openbook": {"top_k": 1}}
    )
    sent = engine.requests[-1]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert sent[0]["content"].endswith("\n\nAnswer in capitals.")
    assert [message["content"] for message in sent[1:3]] == [KEEPER, "Orla Venn"]
    assert sent[3]["content"].endswith("Question: What is a ticket?")
    [passage] = done.to_dict()["openbook"]["passages"]
    assert passage["document_id"] == "ferry.md"


def test_the_clients_decoding_reaches_the_engine(client: openai.OpenAI, engine: OpenAiServer) -> None:
    client.chat.completions.create(
        model="openbook/closed_book",
        messages=ASKED,
        temperature=0.7,
        top_p=0.9,
        max_completion_tokens=50,
        seed=5,
        stop="END",
    )
    expected = {"temperature": 0.7, "top_p": 0.9, "max_tokens": 50, "seed": 5, "stop": ["END"], "n": 1}
    assert expected.items() <= engine.requests[0].items()


def test_fields_that_change_nothing_are_accepted(client: openai.OpenAI) -> None:
    client.chat.completions.create(
        model="openbook/closed_book",
        messages=[{"role": "user", "name": "ann", "content": KEEPER}],
        n=1,
        frequency_penalty=0,
        presence_penalty=0.0,
        logprobs=False,
        response_format={"type": "text"},
        tools=[],
        tool_choice="none",
        user="ann",
        metadata={"run": "7"},
        store=False,
        service_tier="auto",
        reasoning_effort="low",
        parallel_tool_calls=True,
    )


REFUSED: dict[str, tuple[dict[str, Any], str | None, str, str]] = {
    "tools": ({"tools": [{"type": "function"}]}, "tools", "invalid_value", "not supported here"),
    "several": ({"n": 2}, "n", "invalid_value", "or send 1"),
    "JSON mode": ({"response_format": {"type": "json_object"}}, "response_format", "invalid_value", '"text"'),
    "chat template": ({"chat_template": "{{ x }}"}, "chat_template", "unknown_parameter", "unknown field"),
    "template arguments": ({"chat_template_kwargs": {"a": 1}}, "chat_template_kwargs", "unknown_parameter", "unknown"),
    "guided decoding": ({"guided_json": {}}, "guided_json", "unknown_parameter", "unknown field"),
    "misspelt": ({"temprature": 1}, "temprature", "unknown_parameter", "Did you mean 'temperature'?"),
    "misspelt option": ({"openbook": {"topk": 1}}, "openbook.topk", "unknown_parameter", "Did you mean 'top_k'?"),
    "picture": (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
        "messages.0.content",
        "invalid_value",
        "pictures",
    ),
    "no question": ({"messages": [*ASKED, {"role": "assistant", "content": "x"}]}, "body", "invalid_value", "last"),
    "tool turn": ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role", "invalid_value", "assistant"),
    "options of no stream": ({"stream_options": {}}, "body", "invalid_value", "stream: true"),
    "filter without search": (
        {"model": "openbook/closed_book", "openbook": {"filter": {"id": "x"}}},
        "body",
        "invalid_value",
        "searches nothing",
    ),
    "too long": ({"max_tokens": 2000}, None, "context_length_exceeded", "512 tokens"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_honoured_is_refused_by_name(client: openai.OpenAI, engine: OpenAiServer, case: str) -> None:
    body, param, code, expected = REFUSED[case]
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(**{"model": "openbook/rag", "messages": ASKED, "extra_body": body})
    error = refused.value
    assert (error.type, error.code) == ("invalid_request_error", code)
    assert param in (None, error.param)
    assert expected in error.message
    assert engine.requests == []


def test_a_model_that_is_not_there_is_said_as_openai_says_it(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="Did you mean 'openbook/rag'") as refused:
        client.chat.completions.create(model="openbook/rga", messages=ASKED)
    assert refused.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-9")


def test_a_key_that_is_missing_or_may_not_is_refused_as_openai_refuses_it(
    serve: Serve, connect: Client, tmp_path: Path
) -> None:
    _, secret = create_key(tmp_path / "keys.json", "ours", ("read",), ("elsewhere",))
    api = serve(keys_file=tmp_path / "keys.json")
    with pytest.raises(openai.AuthenticationError) as refused:
        connect(api).chat.completions.create(model="openbook/rag", messages=ASKED)
    assert refused.value.type == "authentication_error"
    with pytest.raises(openai.PermissionDeniedError, match="default"):
        connect(api, api_key=secret).chat.completions.create(model="openbook/rag", messages=ASKED, stream=True)
    assert connect(api, api_key=secret).models.list().data


def test_errors_of_these_paths_alone_take_openais_form(api: httpx.Client) -> None:
    for method, path, status in (
        ("GET", "/v1/chat/completions", 405),
        ("POST", "/v1/models", 405),
        ("GET", "/v1/models/none", 404),
    ):
        response = api.request(method, path)
        assert (response.status_code, response.headers["content-type"]) == (status, "application/json")
        assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    assert api.get("/v1/modelss").headers["content-type"] == "application/problem+json"
    bad = api.post("/v1/chat/completions", content=b"{", headers={"content-type": "application/json"})
    assert (bad.status_code, "not valid JSON" in bad.json()["error"]["message"]) == (400, True)


@pytest.mark.parametrize("stream", [False, True])
def test_an_engine_that_fails_is_a_server_error_before_anything_is_sent(
    client: openai.OpenAI, engine: OpenAiServer, stream: bool
) -> None:
    engine.status, engine.error = 500, "EngineCore died"
    with pytest.raises(openai.InternalServerError, match="EngineCore died") as refused:
        client.chat.completions.create(model="openbook/rag", messages=ASKED, stream=stream)
    assert (refused.value.status_code, refused.value.type) == (503, "server_error")


def test_an_engine_that_fails_on_the_way_ends_the_stream_with_an_error(
    client: openai.OpenAI, engine: OpenAiServer
) -> None:
    engine.breaks_after = 1
    stream = client.chat.completions.create(model="openbook/rag", messages=ASKED, stream=True)
    with pytest.raises(openai.APIError, match="broke off in the middle"):
        list(stream)


def test_a_client_that_leaves_closes_the_engines_stream_within_a_second(
    serve: Serve, connect: Client, engine: OpenAiServer
) -> None:
    client = connect(serve(max_in_flight=1))
    engine.hold, engine.hold_after = threading.Event(), 1
    stream = client.chat.completions.create(model="openbook/closed_book", messages=ASKED, stream=True)
    assert next(chunk for chunk in stream if text_of([chunk]))
    stream.close()
    wait_for(lambda: engine.lost_clients == 1, 1)
    engine.hold = None
    assert client.chat.completions.create(model="openbook/closed_book", messages=ASKED).choices


def test_the_openapi_document_shows_how_to_ask_and_what_comes_back(api: httpx.Client) -> None:
    document = api.get("/openapi.json").json()
    asked = document["paths"]["/v1/chat/completions"]["post"]
    assert {"application/json", "text/event-stream"} <= set(asked["responses"]["200"]["content"])
    for status in ("401", "404", "429", "504"):
        assert set(asked["responses"][status]["content"]) == {"application/json"}
    [example] = document["components"]["schemas"]["ChatRequest"]["examples"]
    assert api.post("/v1/chat/completions", json=example).status_code == 200
    [example] = document["components"]["schemas"]["AnswerRequest"]["examples"]
    assert api.post("/v1/answers", json=example).status_code == 200
    events = document["paths"]["/v1/answers"]["post"]["responses"]["200"]["content"]["text/event-stream"]["example"]
    assert "event: retrieval" in events
