"""Whether the engines fit into this machine's memory, looked at before any is started.

Measured on a CPU: vLLM with the base checkpoint (0.27 GB of weights) and 1 GiB of key-value cache takes 4.3 GB, most of
it the libraries and the working memory of its processes.
"""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from app.checkpoints import Model
from app.errors import NotEnoughMemory
from app.serving.command import cpu_dtype

GIB = 2**30
PROCESS_BYTES = int(2.7 * GIB)
"""Of one vLLM without weights and cache."""
WEIGHTS_FACTOR = 1.2
"""Memory for each byte of weights: what is loaded, and what loading takes. In float32 it is twice
that, since checkpoints are kept in 16 bits."""


def needed_bytes(model: Model, kv_cache_gib: int) -> int:
    """Return the memory of one replica on a CPU, in bytes. Weights that are still to be downloaded are not counted."""
    folder = model.folder
    files = [] if folder is None else [*folder.glob("*.safetensors"), *folder.glob("*.bin")]
    factor = WEIGHTS_FACTOR if cpu_dtype() == "bfloat16" else 2 * WEIGHTS_FACTOR
    return PROCESS_BYTES + kv_cache_gib * GIB + int(sum(file.stat().st_size for file in files) * factor)


def free_bytes() -> int:
    """Return the memory that can be had without swapping, in bytes."""
    return int(psutil.virtual_memory().available)


def require_memory(models: Sequence[Model], replicas: int, kv_cache_gib: int) -> None:
    """Check that `replicas` of each model fit.

    Raises:
        NotEnoughMemory: They do not; the message says what would.
    """
    needed, free = [needed_bytes(model, kv_cache_gib) for model in models], free_bytes()
    total = sum(needed) * replicas
    if total <= free:
        return
    raise NotEnoughMemory(
        f"{_what(len(models), replicas)} with a key-value cache of {kv_cache_gib} GiB each take about "
        f"{total / GIB:.1f} GiB, and {free / GIB:.1f} GiB are free. {_advice(needed, replicas, kv_cache_gib, free)}"
    )


def _what(models: int, replicas: int) -> str:
    count = models * replicas
    return f"{count} replica{'s' * (count > 1)} of vLLM ({models} model{'s' * (models > 1)})"


def _advice(needed: Sequence[int], replicas: int, kv_cache_gib: int, free: int) -> str:
    """Return what would fit: fewer replicas, or fewer models."""
    for fewer in range(replicas - 1, 0, -1):
        if sum(needed) * fewer <= free:
            return f"--replicas {fewer} would fit."
    fitting = sum(1 for number in range(1, len(needed)) if sum(needed[:number]) <= free)
    if fitting:
        return f"One replica each of the first {fitting} model{'s' * (fitting > 1)} would fit."
    if kv_cache_gib > 1:
        return "Try a smaller --kv-cache-gib."
    return "Free some, or run the engine elsewhere and name it with --engine-url."
