"""One writer at a time, over processes. Readers never take the lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from indexer.errors import StoreLocked, StoreUnreachable
from terminal import duration, note

QUIET_SECONDS = 1.0
"""How long a second writer waits before it says so."""


@contextmanager
def writer_lock(folder: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the writer's lock of the store in `folder` for the block.

    The operating system frees it when its process ends, however it ends.

    Raises:
        StoreLocked: another process still held it after `wait_seconds`.
    """
    lock = FileLock(folder / "writer.lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _acquire(lock, folder, wait_seconds)
    except Timeout as error:
        raise StoreLocked(
            f"The store {folder} is being written by another process. Waited {wait_seconds:g} s for it; "
            "try again when it has finished, or wait longer with OPENBOOK_LOCK_WAIT_SECONDS."
        ) from error
    except OSError as error:
        raise StoreUnreachable(f"The store {folder} cannot be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: BaseFileLock, folder: Path, wait_seconds: float) -> None:
    try:
        lock.acquire(timeout=min(wait_seconds, QUIET_SECONDS))
    except Timeout:
        if wait_seconds <= QUIET_SECONDS:
            raise
        note(f"The store {folder} is being written by another process; waiting for up to {duration(wait_seconds)}.")
        lock.acquire(timeout=wait_seconds - QUIET_SECONDS)
