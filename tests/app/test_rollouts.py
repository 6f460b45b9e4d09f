"""Rolling updates over real HTTP, with real processes and the real router; the small engine stands for vLLM."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from click.testing import CliRunner, Result

from app.access.keyring import create_key
from app.checkpoints import Model, resolve
from app.commands.checkpoints import checkpoints
from app.engine import Sampled, SampledToken, ServedModel
from app.errors import RolloutRefused, ServerUnreachable
from app.main import create_app
from app.rollout.client import begin_promotion, describe, follow
from app.rollout.probing import difference
from app.rollout.records import Promotion, Records
from app.schemas.rollout import Rollout, RolloutRequest
from app.serving.backend import Backend, after_promotion, choose_backend, pool_of_set
from app.serving.command import EngineOptions
from app.serving.fleet import Fleet, Served
from app.settings import Settings
from corpus.errors import UsageError
from indexer.index import Index
from tests.app.conftest import pool, running
from tests.app.openai_server import openai_server
from tests.app.test_checkpoints import add_checkpoint
from tests.app.test_replicas import launch_small
from tests.waiting import wait_for

KEEPER = "Who is the keeper of the lighthouse?"


class Home:
    """A server with the checkpoints a@1, which it serves, b@1 and what a test adds."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENBOOK_HOME", str(folder))
        self.folder, self.registry = folder, folder / "checkpoints"
        self.add("a", "alpha")
        self.add("b", "bravo")

    def add(self, name: str, says: str) -> Path:
        folder = add_checkpoint(self.registry, name)
        (folder / "says").write_text(says)
        return folder

    @contextmanager
    def serving(self, index: Index, replicas: int, room: int) -> Iterator[Running]:
        """Serve a@1 with so many replicas on a machine with room for so many more."""
        settings = Settings(store=self.folder, prompt="passages", replicas=replicas, keys_file=self.folder / "k.json")

        def room_left(model: Model, options: EngineOptions) -> int:
            return replicas + room - sum(len(made.replicas) for made in fleet.sets)

        fleet = Fleet(EngineOptions(), replicas, launch=launch_small, room_for=room_left)
        made = fleet.add(Served(resolve("a@1", self.registry)))
        backend = Backend((pool_of_set(made, settings),), fleet, "a@1")
        ready = threading.Event()
        with ExitStack() as stack:
            stack.enter_context(backend.running(ready.set, ready.set))
            assert ready.wait(60)
            assert fleet.failure is None
            url = stack.enter_context(running(create_app(settings, index, backend.pools, backend=backend)))
            yield Running(url, fleet, stack.enter_context(httpx.Client(base_url=url, timeout=60, trust_env=False)))


class Running:
    def __init__(self, url: str, fleet: Fleet, client: httpx.Client) -> None:
        self.url, self.fleet, self.client = url, fleet, client

    def ask(self, **request: object) -> httpx.Response:
        return httpx.post(f"{self.url}/v1/answers", json={"question": KEEPER, **request}, timeout=60, trust_env=False)

    def promote(self, label: str, **request: Any) -> Rollout:
        body = RolloutRequest.model_validate(request)
        return follow(self.url, begin_promotion(self.url, label, body))

    @contextmanager
    def load(self, clients: int = 4) -> Iterator[list[httpx.Response]]:
        """Ask without pause meanwhile."""
        replies: list[httpx.Response] = []
        finished = threading.Event()

        def go_on() -> None:
            while not finished.is_set():
                replies.append(self.ask())

        threads = [threading.Thread(target=go_on) for _ in range(clients)]
        for thread in threads:
            thread.start()
        try:
            yield replies
        finally:
            finished.set()
            for thread in threads:
                thread.join()

    def processes(self) -> Counter[str]:
        """Return the label of every engine that runs."""
        lines: list[list[str]] = []
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                lines.append(child.cmdline())
        return Counter(line[3] for line in lines if len(line) == 5 and line[1].endswith("small_engine.py"))

    @contextmanager
    def counted(self) -> Iterator[list[int]]:
        """Count the engines that run meanwhile."""
        counts: list[int] = []
        finished = threading.Event()

        def go_on() -> None:
            while not finished.wait(0.05):
                counts.append(self.processes().total())

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield counts
        finally:
            finished.set()
            thread.join()


def run(server: Running, *arguments: str) -> Result:
    """Run `openbook checkpoints …` against the server."""
    return CliRunner().invoke(checkpoints, [*arguments, "--url", server.url], catch_exceptions=False)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


@pytest.mark.parametrize(("replicas", "room"), [(1, 1), (2, 0), pytest.param(2, 1, marks=pytest.mark.slow)])
def test_a_rolling_update_under_load_loses_no_request_and_leaves_the_new_version_alone(
    saltmere: Index, home: Home, replicas: int, room: int
) -> None:
    with home.serving(saltmere, replicas, room) as server:
        with server.load() as replies, server.counted() as engines:
            time.sleep(0.5)
            rollout = server.promote("b@1")
            time.sleep(0.5)
        assert rollout.status == "done", rollout.detail
        assert Counter(reply.status_code for reply in replies) == {200: len(replies)}
        # Each answer is of one version, and says which.
        said = [(reply.json()["checkpoint"], reply.json()["answer"].split()[:2]) for reply in replies]
        assert all(words == ["a@1", "alpha"] if label == "a@1" else words == ["b@1", "bravo"] for label, words in said)
        assert {label for label, _ in said} == {"a@1", "b@1"}
        assert server.ask().json()["checkpoint"] == "b@1"
        assert server.processes() == {"b@1": replicas}
        assert max(engines) == replicas + room, "memory for so many more"
        assert server.client.get("/readyz").json()["checkpoint"] == "b@1"
        assert {"openbook/rag", "b@1/rag"} <= {each["id"] for each in server.client.get("/v1/models").json()["data"]}
        assert (rollout.previous, rollout.requests_failed, len(rollout.replicas)) == ("a@1", 0, replicas)
        assert rollout.requests_served > 0
        assert rollout.memory_peak_bytes >= rollout.memory_before_bytes > 0
        assert all(each.difference > each.noise == 0 for each in rollout.replicas)
        assert "0 failed" in describe(rollout)


@pytest.mark.parametrize("room", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_version_that_cannot_be_loaded_is_rolled_back_without_a_failed_request(
    saltmere: Index, home: Home, room: int
) -> None:
    home.add("fails", "nothing")
    with home.serving(saltmere, 2, room) as server:
        with server.load() as replies:
            rollout = server.promote("fails@1")
        assert rollout.status == "rolled_back"
        assert "these weights cannot be loaded" in rollout.detail
        assert Counter(reply.status_code for reply in replies) == {200: len(replies)}
        assert {reply.json()["checkpoint"] for reply in replies} == {"a@1"}
        assert server.processes() == {"a@1": 2}
        assert server.client.get("/v1/models").json()["data"][0]["openbook"]["checkpoint"] == "a@1"


def test_a_version_whose_second_replica_fails_is_rolled_back_also_after_it_has_answered(
    saltmere: Index, home: Home
) -> None:
    (home.add("c", "charlie") / "starts").write_text("1")
    with home.serving(saltmere, 2, 0) as server:
        with server.load() as replies:
            rollout = server.promote("c@1")
        assert rollout.status == "rolled_back"
        assert Counter(reply.status_code for reply in replies) == {200: len(replies)}
        assert server.ask().json()["checkpoint"] == "a@1"
        assert server.processes() == {"a@1": 2}


def test_a_probe_that_the_new_version_does_not_answer_rolls_it_back(saltmere: Index, home: Home) -> None:
    with home.serving(saltmere, 1, 1) as server:
        probe = {"question": KEEPER, "contains": "zulu"}
        rollout = server.promote("b@1", probes=[probe])
        assert rollout.status == "rolled_back"
        assert "'zulu'" in rollout.detail
        assert server.processes() == {"a@1": 1}
        done = server.promote("b@1", probes=[{"question": KEEPER, "contains": "BRAVO"}])
        assert done.status == "done"
        assert [each.after.split()[1] for each in done.replicas[0].probes if each.contains] == ["bravo"]


def test_weights_that_answer_as_those_before_are_not_believed_to_be_new(saltmere: Index, home: Home) -> None:
    folder = home.add("same", "alpha")
    card = json.loads((folder / "checkpoint.json").read_text())
    (folder / "checkpoint.json").write_text(json.dumps({**card, "weights_hash": "1" * 64}))
    with home.serving(saltmere, 1, 1) as server:
        rollout = server.promote("same@1")
        assert rollout.status == "rolled_back"
        assert "as the version before does" in rollout.detail


def test_weights_that_are_not_those_of_their_card_are_not_even_started(saltmere: Index, home: Home) -> None:
    (home.registry / "b@1" / "model.safetensors").write_bytes(b"changed since")
    with home.serving(saltmere, 1, 1) as server:
        rollout = server.promote("b@1")
        assert rollout.status == "rolled_back"
        assert "SHA-256" in rollout.detail
        assert not rollout.replicas


def test_a_single_replica_is_not_replaced_where_there_is_no_memory_for_a_second(saltmere: Index, home: Home) -> None:
    with home.serving(saltmere, 1, 0) as server:
        rollout = server.promote("b@1")
        assert rollout.status == "rolled_back"
        assert "no replica can be spared" in rollout.detail
        assert server.ask().json()["checkpoint"] == "a@1"


def test_rollback_goes_back_to_what_was_served_before_and_forth_again(saltmere: Index, home: Home) -> None:
    with home.serving(saltmere, 1, 1) as server:
        nothing = server.client.post("/v1/checkpoints/rollback", json={})
        assert (nothing.status_code, nothing.json()["type"]) == (409, "urn:openbook:rollout-refused")
        assert server.promote("b@1").status == "done"
        for expected in ("a@1", "b@1"):
            begun = server.client.post("/v1/checkpoints/rollback", json={})
            assert begun.headers["location"] == f"/v1/rollouts/{begun.json()['id']}"
            assert follow(server.url, Rollout.model_validate_json(begun.content)).status == "done"
            assert server.ask().json()["checkpoint"] == expected
        listed = server.client.get("/v1/rollouts").json()["rollouts"]
        assert [(each["previous"], each["checkpoint"]) for each in listed] == [
            ("a@1", "b@1"), ("b@1", "a@1"), ("a@1", "b@1"),
        ]  # fmt: skip
        kept = Records(home.folder).promotion("a@1")
        assert kept == Promotion(serving="b@1", previous="a@1", retired=True)


def test_the_version_before_can_be_kept_in_service(saltmere: Index, home: Home) -> None:
    with home.serving(saltmere, 1, 1) as server:
        promoted = run(server, "promote", "b@1", "--keep", "--probe", f"{KEEPER}=bravo")
        assert promoted.stdout.startswith("Done: b@1 answers in the place of a@1.")
        assert server.ask().json()["checkpoint"] == "b@1"
        assert server.ask(checkpoint="a@1").json()["answer"].startswith("a@1 alpha")
        # Both run, so that going back starts nothing.
        back = json.loads(run(server, "rollback", "--json").stdout)
        assert (back["status"], back["checkpoint"], back["seconds"] < 5) == ("done", "a@1", True)
        assert server.ask().json()["checkpoint"] == "a@1"
        failed = run(server, "promote", "b@1", "--probe", f"{KEEPER}=zulu")
        assert (failed.exit_code, failed.stdout.startswith("Rolled back: a@1 answers as before")) == (1, True)
        with pytest.raises(RolloutRefused, match="already"):
            run(server, "promote", "a@1")
        with pytest.raises(UsageError, match="QUESTION=TEXT"):
            run(server, "promote", "b@1", "--probe", "Who?")
    with pytest.raises(ServerUnreachable, match="openbook serve"):
        run(server, "rollback")


def test_what_cannot_begin_is_refused(saltmere: Index, home: Home) -> None:
    with home.serving(saltmere, 1, 1) as server:
        post: Callable[..., httpx.Response] = server.client.post
        assert post("/v1/checkpoints/a@1/promote", json={}).status_code == 409
        unknown = post("/v1/checkpoints/b@2/promote", json={})
        assert (unknown.status_code, "Did you mean 'b@1'" in unknown.json()["detail"]) == (404, True)
        assert post("/v1/checkpoints/b@1/promote", json={"probe": []}).status_code == 422
        first = post("/v1/checkpoints/b@1/promote", json={})
        second = post("/v1/checkpoints/b@1/promote", json={})
        assert (first.status_code, second.status_code) == (202, 409)
        assert first.json()["id"] in second.json()["detail"]
        follow(server.url, Rollout.model_validate_json(first.content))
        assert server.client.get("/v1/rollouts/nothing").status_code == 404
        _, secret = create_key(home.folder / "k.json", "writer", ("read", "write"))
        refused = post("/v1/checkpoints/a@1/promote", json={}, headers={"authorization": f"Bearer {secret}"})
        assert (refused.status_code, "admin" in refused.json()["detail"]) == (403, True)


def test_a_server_that_ends_in_the_middle_of_a_rollout_does_not_wait_for_it(saltmere: Index, home: Home) -> None:
    home.add("slow", "nothing")
    with home.serving(saltmere, 1, 1) as server:
        begun = server.client.post("/v1/checkpoints/slow@1/promote", json={}).json()
        wait_for(lambda: server.processes()["slow@1"] == 1)
        ending = time.monotonic()
    assert time.monotonic() - ending < 20
    assert server.processes().total() == 0
    left = Records(home.folder).read(begun["id"])
    assert (left.status, left.detail) == ("failed", "The server ended before it was done.")


def test_between_engines_elsewhere_only_the_default_moves(saltmere: Index, home: Home) -> None:
    settings = Settings(store=home.folder, prompt="passages")
    with openai_server() as first, openai_server() as second:
        first.text, second.text = "one", "two"
        engines = [pool(engine.url, (ServedModel(name, None, 512),)) for engine, name in ((first, "x"), (second, "y"))]
        first.models = lambda: {"data": [{"id": "x"}]}  # type: ignore[method-assign]
        second.models = lambda: {"data": [{"id": "y"}]}  # type: ignore[method-assign]
        with running(create_app(settings, saltmere, engines)) as url:
            rollout = follow(url, begin_promotion(url, "y", RolloutRequest()))
            assert rollout.status == "done", rollout.detail
            reply = httpx.post(f"{url}/v1/answers", json={"question": KEEPER}, trust_env=False).json()
            assert (reply["answer"], reply["checkpoint"]) == ("two", "y")


def test_a_server_that_is_started_again_serves_what_was_promoted(home: Home) -> None:
    with openai_server() as engine:
        engine.models = lambda: {"data": [{"id": "x"}, {"id": "y"}]}  # type: ignore[method-assign]
        settings = Settings(engine_url=(engine.url,), store=home.folder)
        assert choose_backend(settings).pools[0].served[0].name == "x"
        Records(home.folder).promote("x", Promotion(serving="y", previous="x", retired=False))
        backend = choose_backend(settings)
        assert ([model.name for model in backend.pools[0].served], backend.configured) == (["y", "x"], "x")


@pytest.mark.parametrize(
    ("promotion", "expected"),
    [
        (None, ("a", "c")),
        (Promotion(serving="b", previous="a", retired=True), ("b", "c")),
        (Promotion(serving="b", previous="a", retired=False), ("b", "a", "c")),
        (Promotion(serving="c", previous="a", retired=False), ("c", "a")),
    ],
)
def test_what_is_served_after_a_promotion(promotion: Promotion | None, expected: tuple[str, ...]) -> None:
    assert after_promotion("a", ["c"], promotion) == expected


def test_a_rollout_that_a_killed_server_left_is_marked_as_failed(tmp_path: Path) -> None:
    records = Records(tmp_path)
    records.write(Rollout(id="1", checkpoint="b@1", previous="a@1", started=datetime.now(UTC)))
    records.close_interrupted()
    assert (records.read("1").status, "ended before" in records.read("1").detail) == ("failed", True)


def test_damaged_promotions_are_named(tmp_path: Path) -> None:
    (tmp_path / "promotions.json").write_text("{")
    with pytest.raises(RolloutRefused, match=r"promotions\.json"):
        Records(tmp_path).promotion("a@1")


def sampled(*tokens: tuple[str, float]) -> Sampled:
    return Sampled("".join(text for text, _ in tokens), tuple(SampledToken(*token) for token in tokens))


def test_versions_are_compared_up_to_the_first_token_that_differs() -> None:
    first = sampled(("a", -1.0), ("b", -2.0), ("c", -1.0))
    assert difference(first, first) == 0
    assert difference(first, sampled(("a", -1.5), ("x", -3.0), ("c", -9.0))) == pytest.approx(0.75)
    assert difference(Sampled("a", ()), Sampled("b", ())) == 1
