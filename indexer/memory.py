"""What glibc does with memory that is freed: kept from layer to layer, and given back after a publication."""

from __future__ import annotations

import contextlib
import ctypes
import functools

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
"""Names of glibc, from malloc.h."""
MEBIBYTE = 2**20


@functools.cache
def keep_freed_memory() -> None:
    """Let this process keep what it frees, up to what a batch needs, from now on. Does nothing without glibc.

    Memory given back after every layer is fetched page by page for the next: a third of the time of embedding.
    """
    with contextlib.suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        # The largest that glibc takes.
        mallopt(MMAP_THRESHOLD, 32 * MEBIBYTE)
        mallopt(TRIM_THRESHOLD, 512 * MEBIBYTE)
        mallopt(TOP_PAD, 64 * MEBIBYTE)


def give_back_freed_memory() -> None:
    """Give back what is free now, such as the vectors of a whole collection. Does nothing without glibc."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
