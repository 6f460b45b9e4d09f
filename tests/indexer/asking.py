"""Threads that ask again and again while a test changes the store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def asking(wrong: Callable[[], list[object]], threads: int) -> Iterator[list[object]]:
    """Call `wrong` on several threads for as long as the block lasts; all that it returned or raised is collected."""
    stop, problems = threading.Event(), list[object]()

    def ask() -> None:
        while not stop.is_set():
            try:
                problems.extend(wrong())
            except Exception as error:
                problems.append(error)

    askers = [threading.Thread(target=ask) for _ in range(threads)]
    for asker in askers:
        asker.start()
    try:
        yield problems
    finally:
        stop.set()
        for asker in askers:
            asker.join()
