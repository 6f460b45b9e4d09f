"""The parts of a machine that replicas get: cores of their own, or a GPU of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.errors import TooManyReplicas


@dataclass(frozen=True)
class Slot:
    """Where one replica runs."""

    number: int
    """From 0."""
    cores: frozenset[int] | None = None
    """The cores that it computes on; None leaves that to vLLM."""
    gpu: str | None = None
    """The device of `CUDA_VISIBLE_DEVICES`; None leaves that to vLLM."""


WHOLE_MACHINE = Slot(0)


def slots_of_machine(count: int, on_cpu: bool) -> tuple[Slot, ...]:
    """Divide this machine among replicas; a single one is left to vLLM.

    Raises:
        TooManyReplicas: There are not enough cores or GPUs.
    """
    if count == 1:
        return (WHOLE_MACHINE,)
    return cpu_slots(count, os.sched_getaffinity(0)) if on_cpu else gpu_slots(count, visible_gpus(os.environ))


def cpu_slots(count: int, cores: set[int]) -> tuple[Slot, ...]:
    """Divide cores into runs of neighbours, whose sizes differ by one at most.

    Raises:
        TooManyReplicas: There are fewer cores than replicas.
    """
    if count > len(cores):
        raise TooManyReplicas(
            f"{count} replicas need a core each, and this process may use {len(cores)}. Serve fewer with --replicas or "
            "fewer models, or run engines elsewhere and name them with --engine-url."
        )
    ordered, size, larger = sorted(cores), *divmod(len(cores), count)
    starts = [number * size + min(number, larger) for number in range(count + 1)]
    return tuple(Slot(number, frozenset(ordered[starts[number] : starts[number + 1]])) for number in range(count))


def gpu_slots(count: int, gpus: Sequence[str]) -> tuple[Slot, ...]:
    """Give each replica a GPU.

    Raises:
        TooManyReplicas: There are fewer GPUs than replicas: vLLM takes nearly all memory of its GPU.
    """
    if count > len(gpus):
        raise TooManyReplicas(
            f"{count} replicas need a GPU each, and {len(gpus)} can be seen. Serve fewer with --replicas, or several "
            "fine-tuned versions as adapters of one base."
        )
    return tuple(Slot(number, gpu=gpus[number]) for number in range(count))


def visible_gpus(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the devices that may be used, as `CUDA_VISIBLE_DEVICES` names them, else as the driver counts them."""
    if named := environment.get("CUDA_VISIBLE_DEVICES"):
        return tuple(device.strip() for device in named.split(",") if device.strip())
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(str(number) for number, _ in enumerate(line for line in listed.splitlines() if line[:4] == "GPU "))
