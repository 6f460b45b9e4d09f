"""What the processor of this machine can do."""

from __future__ import annotations

import functools
import platform
from collections.abc import Iterator
from pathlib import Path

INFORMATION = Path("/proc/cpuinfo")
BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
"""As Linux names them on x86-64 and on ARM."""


@functools.cache
def has_bfloat16_units(information: Path = INFORMATION) -> bool:
    """Say whether this processor multiplies bfloat16 faster than float32.

    Without such units libraries emulate it: on an AVX2 processor a product of two matrices takes eight times as long as
    in float32.

    Args:
        information: What the system tells of the processor; where it tells nothing there are no units.
    """
    flags = {flag for name, value in _told(information) if name in ("flags", "Features") for flag in value.split()}
    return not BFLOAT16_FLAGS.isdisjoint(flags)


def processor_name(information: Path = INFORMATION) -> str:
    """Return the name that its maker gave this processor; its kind, such as `aarch64`, where the system knows none."""
    named = (value for name, value in _told(information) if name == "model name" and value)
    return next(named, platform.processor() or platform.machine())


def _told(information: Path) -> Iterator[tuple[str, str]]:
    """Yield each name and value that the system tells of the processor, once for each core."""
    try:
        text = information.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        name, _, value = line.partition(":")
        yield name.strip(), value.strip()
