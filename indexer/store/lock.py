"""One writer at a time, over processes. Readers never take the lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from indexer.errors import StoreLocked


@contextmanager
def writer_lock(folder: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the writer's lock of the store in `folder` for the block.

    The operating system frees it when its process ends, however it ends.

    Raises:
        StoreLocked: another process still held it after `wait_seconds`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "writer.lock", timeout=wait_seconds):
            yield
    except Timeout as error:
        raise StoreLocked(
            f"The store {folder} is being written by another process. Waited {wait_seconds:g} s for it; "
            "try again when it has finished, or wait longer with OPENBOOK_LOCK_WAIT_SECONDS."
        ) from error
