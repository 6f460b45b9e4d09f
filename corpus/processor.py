"""What the processor of this machine can do."""

from __future__ import annotations

import functools
from pathlib import Path

BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
"""As Linux names them on x86-64 and on ARM."""


@functools.cache
def has_bfloat16_units(information: Path = Path("/proc/cpuinfo")) -> bool:
    """Say whether this processor multiplies bfloat16 faster than float32.

    Without such units libraries emulate it: on an AVX2 processor a product of two matrices takes eight times as long as
    in float32.

    Args:
        information: What the system tells of the processor; where it tells nothing there are no units.
    """
    try:
        text = information.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    flags: set[str] = set()
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            flags |= set(value.split())
    return not BFLOAT16_FLAGS.isdisjoint(flags)
