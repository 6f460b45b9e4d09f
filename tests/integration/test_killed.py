"""Kills and rolling updates with the real vLLM and the real router: slow, since a server takes minutes to start."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from safetensors.torch import load_file, save_file

from app.base_checkpoint import LABEL
from app.rollout.client import begin_promotion, follow
from app.schemas.checkpoint import CheckpointCard
from app.schemas.rollout import RolloutRequest
from corpus.digests import file_sha256
from terminal import note
from tests.conftest import RunningServer, furnish, run_openbook, serving
from tests.waiting import wait_for

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(1200)]

KEEPER = "Who is the keeper of the lighthouse?"
LONG = {"max_tokens": 900, "stop": [], "temperature": 1.0}
STORY = {"question": "Tell a very long story of a lighthouse.", "retriever": "none", "decoding": LONG}


@pytest.fixture
def home(tmp_path: Path, base_checkpoint: Path) -> Path:
    furnish(tmp_path, base_checkpoint)
    return tmp_path


def descendants(server: RunningServer) -> list[psutil.Process]:
    return psutil.Process(server.process.pid).children(recursive=True)


def engines(server: RunningServer) -> list[psutil.Process]:
    """Return the API server of every vLLM."""
    found = []
    for process in descendants(server):
        line = process.cmdline()
        if "vllm.entrypoints.openai.api_server" in line and "app.serving.guard" not in line:
            found.append(process)
    return found


def kill_tree(process: psutil.Process) -> None:
    for each in [*process.children(recursive=True), process]:
        each.send_signal(signal.SIGKILL)


def alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def under_way(url: str) -> int:
    metrics = httpx.get(f"{url}/metrics", trust_env=False).text
    return sum(int(float(number)) for number in re.findall(r"^vllm:num_requests_running\S* (\S+)$", metrics, re.M))


class Stream:
    """A streamed answer that is read meanwhile; `begun` once a token has come."""

    def __init__(self, url: str, path: str, body: dict[str, Any]) -> None:
        self.lines: list[str] = []
        self.begun = threading.Event()
        self._arguments = (f"{url}{path}", {**body, "stream": True})
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        url, body = self._arguments
        try:
            with httpx.stream("POST", url, json=body, timeout=120, trust_env=False) as response:
                for line in response.iter_lines():
                    self.lines.append(line)
                    if line.startswith("event: token") or '"content": "' in line:
                        self.begun.set()
        except httpx.HTTPError as error:
            self.lines.append(f"broken: {error}")

    def wait(self) -> list[str]:
        self._thread.join(120)
        return self.lines


@contextmanager
def load(server: RunningServer, clients: int) -> Iterator[list[httpx.Response]]:
    """Ask different questions without pause meanwhile."""
    replies: list[httpx.Response] = []
    finished = threading.Event()

    def go_on(number: int) -> None:
        asked = 0
        while not finished.is_set():
            asked += 1
            body = {"question": f"{number} asks, {asked} times: who keeps the lighthouse?", "prompt": "passages"}
            replies.append(httpx.post(f"{server.url}/v1/answers", json=body, timeout=120, trust_env=False))

    threads = [threading.Thread(target=go_on, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield replies
    finally:
        finished.set()
        for thread in threads:
            thread.join()


def statuses(replies: list[httpx.Response]) -> Counter[str]:
    return Counter("200" if reply.is_success else f"{reply.status_code} {reply.text[:300]}" for reply in replies)


def refusal(server: RunningServer) -> str:
    """Ask, and return why there is no answer."""
    reply = httpx.post(f"{server.url}/v1/answers", json={"question": KEEPER}, timeout=60, trust_env=False)
    assert reply.status_code == 503
    return str(reply.json()["detail"])


@pytest.mark.parametrize("victim", ["the whole engine", "its core alone"])
def test_the_only_engine_killed_gives_clear_503s_and_comes_back_by_itself(home: Path, victim: str) -> None:
    with serving(home) as server:
        [engine] = engines(server)
        streamed = Stream(server.url, "/v1/answers", STORY)
        asked = {"model": "openbook/closed_book", "messages": [{"role": "user", "content": "Tell a long story."}]}
        chat = Stream(server.url, "/v1/chat/completions", {**asked, "max_tokens": 900, "temperature": 1.0})
        whole: list[httpx.Response] = []
        asking = threading.Thread(
            target=lambda: whole.append(
                httpx.post(f"{server.url}/v1/answers", json=STORY, timeout=120, trust_env=False)
            )
        )
        asking.start()
        assert streamed.begun.wait(60)
        assert chat.begun.wait(60)
        wait_for(lambda: under_way(server.engine_url) == 3, 30)
        killed = time.monotonic()
        if victim == "the whole engine":
            kill_tree(engine)
        else:
            [core] = [each for each in engine.children() if each.name().startswith("VLLM::EngineCor")]
            core.send_signal(signal.SIGKILL)
        asking.join()
        assert whole[0].status_code == 503, whole[0].text
        assert whole[0].headers["content-type"] == "application/problem+json"
        assert int(whole[0].headers["retry-after"]) > 0
        lines = streamed.wait()
        assert "event: error" in lines
        problem = json.loads(lines[lines.index("event: error") + 1].removeprefix("data: "))
        assert (problem["status"], problem["type"]) == (503, "urn:openbook:engine-unreachable")
        last = [line for line in chat.wait() if line.startswith("data: {")][-1]
        assert json.loads(last.removeprefix("data: "))["error"]["type"] == "server_error"
        wait_for(lambda: httpx.get(f"{server.url}/readyz", trust_env=False).status_code == 503, 10)
        wait_for(lambda: "started again" in refusal(server), 10)
        wait_for(lambda: httpx.get(f"{server.url}/readyz", trust_env=False).status_code == 200, 400)
        note(f"{victim} killed: answers again after {time.monotonic() - killed:.0f} s")
        asked_again = {"question": KEEPER, "top_k": 1}
        answered = httpx.post(f"{server.url}/v1/answers", json=asked_again, timeout=120, trust_env=False)
        assert (answered.status_code, "Venn" in answered.json()["answer"]) == (200, True)


def test_the_app_killed_in_the_middle_of_a_stream_leaves_no_process_behind(home: Path) -> None:
    with serving(home) as server:
        everything = descendants(server)
        assert len(everything) >= 3
        streamed = Stream(server.url, "/v1/answers", STORY)
        assert streamed.begun.wait(60)
        server.process.kill()
        assert streamed.wait()[-1].startswith("broken: ")
        wait_for(lambda: not any(alive(each) for each in everything), 15)


def changed_checkpoint(home: Path, base: Path, version: str) -> str:
    """Make a version of the base whose last layers say something else, and return its label."""
    label = f"changed@{version}"
    folder = home / "checkpoints" / label
    folder.mkdir()
    for file in base.iterdir():
        if file.name not in ("model.safetensors", "checkpoint.json"):
            (folder / file.name).symlink_to(file)
    weights = load_file(base / "model.safetensors")
    for name, tensor in weights.items():
        if "layers.29.mlp.down_proj" in name:
            weights[name] = tensor * 0.5
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    write_card(folder, "changed", version)
    return label


def write_card(folder: Path, name: str, version: str) -> None:
    card = CheckpointCard(
        name=name,
        version=version,
        base=LABEL,
        created=datetime.now(UTC),
        weights_hash=file_sha256(folder / "model.safetensors"),
    )
    (folder / "checkpoint.json").write_text(card.model_dump_json())


def broken_checkpoint(home: Path, base: Path) -> str:
    """Make a checkpoint whose weights end in the middle, with a card that is true of them."""
    folder = home / "checkpoints" / "broken@1"
    folder.mkdir()
    for file in base.iterdir():
        if file.name not in ("model.safetensors", "checkpoint.json"):
            (folder / file.name).symlink_to(file)
    (folder / "model.safetensors").write_bytes((base / "model.safetensors").read_bytes()[: 10**6])
    write_card(folder, "broken", "1")
    return "broken@1"


def test_two_replicas_lose_no_request_to_a_kill_nor_to_a_rolling_update(home: Path, base_checkpoint: Path) -> None:
    changed = changed_checkpoint(home, base_checkpoint, "1")
    broken = broken_checkpoint(home, base_checkpoint)
    with serving(home, "--replicas", "2") as server:
        first, second = engines(server)
        cores = [dict(process.environ())["VLLM_CPU_OMP_THREADS_BIND"] for process in (first, second)]
        assert len(set(cores)) == 2

        # The router passes on that a client has left.
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{server.url}/v1/answers", json=STORY, timeout=1.5, trust_env=False)
        ports = [each.cmdline()[each.cmdline().index("--port") + 1] for each in (first, second)]
        wait_for(lambda: sum(under_way(f"http://127.0.0.1:{port}") for port in ports) == 0, 1)

        with load(server, 8) as replies:
            wait_for(lambda: len(replies) > 16, 120)
            kill_tree(first)
            before = len(replies)
            wait_for(lambda: len(replies) > before + 48, 240)
        note(f"one of two killed: {len(replies)} requests, {statuses(replies)}")
        assert statuses(replies) == {"200": len(replies)}
        urls = f"{server.engine_url}/list_workers"
        wait_for(lambda: len(httpx.get(urls, trust_env=False).json()["urls"]) == 2, 400)

        with load(server, 4) as replies:
            wait_for(lambda: len(replies) > 8, 120)
            rollout = follow(server.url, begin_promotion(server.url, changed, RolloutRequest()))
            after = len(replies)
            wait_for(lambda: len(replies) > after + 8, 120)
        note(f"rolling update: {rollout.model_dump_json(indent=1, exclude={'replicas': {'__all__': {'probes'}}})}")
        assert rollout.status == "done", rollout.detail
        assert statuses(replies) == {"200": len(replies)}
        assert rollout.requests_failed == 0
        assert len(rollout.replicas) == 2
        assert all(each.difference > 2 * each.noise for each in rollout.replicas)
        served = [reply.json()["checkpoint"] for reply in replies]
        assert set(served) == {LABEL, changed}
        answer = httpx.post(f"{server.url}/v1/answers", json={"question": KEEPER}, timeout=120, trust_env=False).json()
        assert answer["checkpoint"] == changed
        assert (
            answer["weights_hash"]
            == rollout.weights_hash
            == file_sha256(home / "checkpoints" / changed / "model.safetensors")
        )

        with load(server, 4) as replies:
            ended = run_openbook(home, "checkpoints", "promote", broken, "--url", server.url, "--json", timeout_s=600)
        failed = json.loads(ended.stdout)
        note(f"a broken version: {failed['status']} after {failed['seconds']} s, {statuses(replies)}")
        assert (ended.returncode, failed["status"]) == (1, "rolled_back")
        assert statuses(replies) == {"200": len(replies)}
        assert {reply.json()["checkpoint"] for reply in replies} == {changed}
        wait_for(lambda: len(engines(server)) == 2, 30)
