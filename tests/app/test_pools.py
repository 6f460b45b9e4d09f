"""Several pools in one server, over real HTTP, each with a small engine that does as it is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from app.engine import ServedModel
from app.errors import ModelNotFound
from app.main import create_app
from app.pools import Pools
from app.prompting.assemble import Assembler
from app.prompting.tokens import TokenCounter
from app.serving.backend import choose_backend
from app.settings import Settings
from indexer.index import Index
from tests.app.conftest import pool, running
from tests.app.openai_server import OpenAiServer, openai_server

KEEPER = "Who is the keeper of the lighthouse?"


class Two:
    """A server with the pools `small@1`, the default, and `tuned@2`."""

    def __init__(self, stack: ExitStack, index: Index, store: Path, **settings: object) -> None:
        self.small, self.tuned = (stack.enter_context(openai_server()) for _ in range(2))
        self.small.text, self.tuned.text = "from small", "from tuned"
        self.problems: dict[str, str] = {}
        engines = [self._pool(self.small, "small@1"), self._pool(self.tuned, "tuned@2")]
        app = create_app(Settings.model_validate({"store": store, "prompt": "passages", **settings}), index, engines)
        self.client = stack.enter_context(
            httpx.Client(base_url=stack.enter_context(running(app)), timeout=20, trust_env=False)
        )

    def _pool(self, engine: OpenAiServer, name: str):
        return pool(engine.url, (ServedModel(name, None, 512),), lambda: self.problems.get(name))

    def ask(self, **request: object) -> httpx.Response:
        return self.client.post("/v1/answers", json={"question": KEEPER, **request})


@pytest.fixture
def two(saltmere: Index, tmp_path: Path) -> Iterator[Two]:
    with ExitStack() as stack:
        yield Two(stack, saltmere, tmp_path)


def test_the_checkpoint_of_a_request_picks_the_pool_and_the_answer_says_so(two: Two) -> None:
    default, named = two.ask().json(), two.ask(checkpoint="tuned@2").json()
    assert (default["answer"], default["checkpoint"]) == ("from small", "small@1")
    assert default["routed"] == {"pool": "small@1", "reason": "it is the default"}
    assert (named["answer"], named["checkpoint"]) == ("from tuned", "tuned@2")
    assert named["routed"] == {"pool": "tuned@2", "reason": "the request names it"}
    assert two.tuned.requests[0]["model"] == "tuned@2"


def test_every_arm_of_every_pool_is_a_model(two: Two) -> None:
    models = [model["id"] for model in two.client.get("/v1/models").json()["data"]]
    assert {"openbook/rag", "small@1/rag", "tuned@2/rag", "tuned@2/closed_book"} <= set(models)
    asked = {"model": "tuned@2/rag", "messages": [{"role": "user", "content": KEEPER}]}
    reply = two.client.post("/v1/chat/completions", json=asked).json()
    assert reply["choices"][0]["message"]["content"] == "from tuned"


def test_a_pool_that_is_down_leaves_the_others_answering(two: Two) -> None:
    two.problems["tuned@2"] = "The engine died and is being started again."
    assert two.ask().status_code == 200
    refused = two.ask(checkpoint="tuned@2")
    assert (refused.status_code, refused.json()["detail"]) == (503, two.problems["tuned@2"])
    asked = {"model": "tuned@2/rag", "messages": [{"role": "user", "content": KEEPER}]}
    reply = two.client.post("/v1/chat/completions", json=asked)
    assert (reply.status_code, reply.json()["error"]["type"]) == (503, "server_error")


def test_a_routing_policy_sends_questions_to_another_pool_and_a_named_checkpoint_overrules_it(
    saltmere: Index, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        two = Two(stack, saltmere, tmp_path, routing="by_question_length", routing_threshold=9)
        long = "Who is the keeper of the lighthouse in the north of Saltmere?"
        assert two.ask().json()["checkpoint"] == "small@1"
        assert two.ask(question=long).json()["checkpoint"] == "tuned@2"
        assert "12 words" in two.ask(question=long).json()["routed"]["reason"]
        assert two.ask(question=long, checkpoint="small@1").json()["checkpoint"] == "small@1"


def test_confidence_of_retrieval_sends_what_the_documents_do_not_hold_elsewhere(
    saltmere: Index, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        two = Two(stack, saltmere, tmp_path, routing="by_retrieval_confidence", routing_threshold=0.45)
        assert two.ask().json()["checkpoint"] == "small@1"
        assert two.ask(question="How do transistors amplify a current?").json()["checkpoint"] == "tuned@2"


def test_a_policy_cannot_be_told_to_choose_what_is_not_served(tmp_path: Path) -> None:
    with openai_server() as engine:
        settings = Settings(engine_url=(engine.url,), store=tmp_path, routing_checkpoint="smal@1")
        with pytest.raises(ModelNotFound, match="Did you mean 'small@1'"):
            choose_backend(settings)


def table() -> Pools:
    pools = [pool("http://127.0.0.1:9", (ServedModel(name, None, 512),)) for name in ("a@1", "b@1")]
    return Pools(pools, lambda model: Assembler(TokenCounter(None), model.max_model_len or 512))


def test_promoting_moves_the_default_and_what_was_begun_keeps_its_pool() -> None:
    pools = table()
    old = pools.pool_of()
    with pools.lease(pools.choose(None, None)) as lease:  # type: ignore[arg-type]
        pools.promote("b@1")
        pools.remove(old)
        assert (lease.checkpoint, old.leases) == ("a@1", 1)
        assert pools.checkpoints == ("b@1",)
    assert old.leases == 0


def test_the_pool_of_the_default_cannot_be_removed() -> None:
    pools = table()
    with pytest.raises(ValueError, match="a@1"):
        pools.remove(pools.pool_of("a@1"))
