"""Replicas, slots, memory and the router, with the shipped small engine in the place of vLLM."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.checkpoints import Model
from app.errors import EngineFailed, ModelNotFound, NotEnoughMemory, TooManyReplicas
from app.serving import memory
from app.serving.backend import group_adapters
from app.serving.command import EngineOptions, vllm_command, vllm_environment
from app.serving.engine_process import ServerProcess
from app.serving.memory import GIB, needed_bytes, require_memory
from app.serving.replica_set import ReplicaSet
from app.serving.slots import Slot, cpu_slots, gpu_slots, visible_gpus
from tests.waiting import wait_for

SMALL = Path(__file__).parent / "small_engine.py"
MODEL = Model("small@1", "/nowhere")


@given(st.sets(st.integers(0, 63), min_size=1), st.integers(1, 64))
def test_replicas_share_all_cores_out_and_none_twice(cores: set[int], count: int) -> None:
    if count > len(cores):
        with pytest.raises(TooManyReplicas, match=f"{len(cores)}"):
            cpu_slots(count, cores)
        return
    shares = [slot.cores or frozenset() for slot in cpu_slots(count, cores)]
    assert sorted(core for share in shares for core in share) == sorted(cores)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_each_replica_computes_on_its_own_cores_or_its_own_gpu() -> None:
    first, second = cpu_slots(2, {0, 1, 2, 3})
    options = [EngineOptions(9000, slot=slot) for slot in (first, second)]
    bound = [vllm_environment(MODEL, each, True, {})["VLLM_CPU_OMP_THREADS_BIND"] for each in options]
    assert bound == ["0-1", "2-3"]
    gpu = gpu_slots(2, ["4", "7"])[1]
    assert vllm_environment(MODEL, EngineOptions(9000, slot=gpu), False, {})["CUDA_VISIBLE_DEVICES"] == "7"
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": "4, 7"}) == ("4", "7")
    with pytest.raises(TooManyReplicas, match="2 can be seen"):
        gpu_slots(3, ["4", "7"])


def adapter(folder: Path, base: str, rank: int = 16) -> Model:
    folder.mkdir()
    (folder / "adapter_config.json").write_text(f'{{"base_model_name_or_path": "{base}", "r": {rank}}}')
    return Model(folder.name, str(folder))


def test_on_a_gpu_one_engine_serves_a_base_and_its_adapters_by_name_and_version(tmp_path: Path) -> None:
    first, second = adapter(tmp_path / "tuned@1", "small@1"), adapter(tmp_path / "tuned@2", "small@1", 32)
    [served] = group_adapters([MODEL, first, second], on_cpu=False)
    command = vllm_command(MODEL, EngineOptions(9000, adapters=served.adapters), on_cpu=False)
    modules = command[command.index("--lora-modules") + 1 :][:2]
    assert modules == [f"tuned@1={first.location}", f"tuned@2={second.location}"]
    assert command[command.index("--max-lora-rank") + 1] == "32"
    assert "--enable-lora" in command


def test_an_adapter_is_refused_on_a_cpu_and_without_its_base(tmp_path: Path) -> None:
    tuned = adapter(tmp_path / "tuned@1", "small@1")
    with pytest.raises(ModelNotFound, match="merge it"):
        group_adapters([MODEL, tuned], on_cpu=True)
    with pytest.raises(ModelNotFound, match="Add --model small@1"):
        group_adapters([Model("other@1", "/elsewhere"), tuned], on_cpu=False)


def test_without_an_adapter_the_engine_has_no_lora() -> None:
    assert "--enable-lora" not in vllm_command(MODEL, EngineOptions(9000), on_cpu=False)


def weights(folder: Path, size: int) -> Model:
    folder.mkdir()
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(size)
    return Model(folder.name, str(folder))


@pytest.mark.parametrize(("units", "weights_gib"), [(True, 12), (False, 24)])
def test_the_memory_of_a_replica_is_that_of_its_process_its_cache_and_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, units: bool, weights_gib: int
) -> None:
    monkeypatch.setattr("app.serving.command.has_bfloat16_units", lambda: units)
    small, large = weights(tmp_path / "small@1", 0), weights(tmp_path / "large@1", 10 * GIB)
    assert needed_bytes(small, 3) - needed_bytes(small, 1) == 2 * GIB
    assert needed_bytes(large, 1) - needed_bytes(small, 1) == weights_gib * GIB


@pytest.mark.parametrize(
    ("free_gib", "models", "replicas", "cache_gib", "advice"),
    [
        (9, 1, 3, 1, "--replicas 2 would fit"),
        (9, 3, 1, 1, "One replica each of the first 2 models would fit"),
        (4, 1, 1, 3, "smaller --kv-cache-gib"),
        (1, 1, 1, 1, "--engine-url"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    free_gib: int,
    models: int,
    replicas: int,
    cache_gib: int,
    advice: str,
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: free_gib * GIB)
    wanted = [weights(tmp_path / f"model{number}@1", GIB // 4) for number in range(models)]
    with pytest.raises(NotEnoughMemory, match=advice) as refused:
        require_memory(wanted, replicas, cache_gib)
    assert f"{free_gib}.0 GiB are free" in str(refused.value)


def test_what_fits_is_not_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 9 * GIB)
    require_memory([weights(tmp_path / "small@1", GIB // 4)], 2, 1)


def launch_small(model: Model, options: EngineOptions, log: Path) -> ServerProcess:
    """Start the small engine as a process of its own."""
    command = [sys.executable, str(SMALL), str(options.port), model.label, model.location]
    return ServerProcess(model.label, command, dict(os.environ), options.url, log)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[ReplicaSet]:
    """Return two small engines behind the real vllm-router."""
    made = ReplicaSet(
        MODEL, EngineOptions(), True, lambda name, port: tmp_path / f"{name}-{port}.log", launch=launch_small
    )
    try:
        for number in range(2):
            made.start(Slot(number))
        made.admit()
        yield made
    finally:
        made.stop()


def ask(url: str, question: str) -> tuple[int, str]:
    body = {"model": "small@1", "messages": [{"role": "user", "content": question}]}
    reply = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60, trust_env=False)
    return reply.status_code, reply.json()["choices"][0]["message"]["content"] if reply.is_success else reply.text


def test_of_two_replicas_under_load_one_that_is_killed_loses_no_request_and_takes_part_again(two: ReplicaSet) -> None:
    replies: list[tuple[int, str]] = []
    finished = threading.Event()

    def client(number: int) -> None:
        while not finished.is_set():
            replies.append(ask(two.url, f"{number} asks {len(replies)}"))

    with ThreadPoolExecutor(8) as pool:
        clients = [pool.submit(client, number) for number in range(8)]
        wait_for(lambda: len(replies) > 60)
        assert len({text for _, text in replies}) == 2, "one replica answers everything"
        victim = two.replicas[0]
        victim._supervisor._process._process.kill()  # type: ignore[union-attr]
        wait_for(lambda: victim.problem is not None)
        wait_for(lambda: len(two.ready) == 2, 30)
        before = len(replies)
        wait_for(lambda: len(two._admin.replicas()) == 2 and len(replies) > before + 60, 30)
        finished.set()
        for each in clients:
            each.result(60)
    assert Counter(status for status, _ in replies) == {200: len(replies)}
    assert len({text for _, text in replies[before:]}) == 2


def test_a_retired_replica_finishes_what_it_has_and_is_gone(two: ReplicaSet) -> None:
    with ThreadPoolExecutor(4) as pool:
        slow = [pool.submit(ask, two.url, f"{number} takes 2 s") for number in range(4)]
        time.sleep(0.5)
        staying, leaving = two.replicas
        two.retire(leaving, 30)
        assert two.replicas == (staying,)
        assert {each.result(30)[0] for each in slow} == {200}
    assert two._admin.replicas() == {staying.url}
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{leaving.url}/health", trust_env=False)
    assert two.problem() is None


def test_a_router_that_is_killed_is_started_again_with_the_replicas_that_answer(two: ReplicaSet) -> None:
    assert two._router is not None
    two._router._process._process.kill()  # type: ignore[union-attr]
    wait_for(lambda: two.problem() is not None)
    wait_for(lambda: two.problem() is None, 30)
    assert ask(two.url, "Who?")[0] == 200
    assert two._admin.replicas() == {replica.url for replica in two.replicas}


def test_a_replica_that_cannot_be_started_is_left_out_and_the_others_go_on(two: ReplicaSet) -> None:
    two.model = Model("fails@1", "/nowhere")
    two.start(Slot(2))
    with pytest.raises(EngineFailed, match="ended while it started"):
        two.admit()
    assert len(two.replicas) == 2
    assert ask(two.url, "Who?")[0] == 200
