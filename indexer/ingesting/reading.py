"""Files read in worker processes while the documents before them are embedded."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterator
from itertools import chain

from indexer.parsing.source import Parsed, SourceFile, Unreadable
from indexer.settings import IndexerSettings
from indexer.sources.walking import FoundFile

MOST_WORKERS = 8

Contents = Iterator[Parsed | Unreadable]


def read(files: Iterator[FoundFile], settings: IndexerSettings) -> Generator[tuple[FoundFile, Contents], None, None]:
    """Yield each file with what is in it, which is to be taken before the next file is.

    Args:
        files: taken some way ahead, so that there is always something to read.
        settings: how many processes there are, and what reading one file may take. No process is started before there
            is a file.
    """
    first = next(files, None)
    if first is None:
        return
    waiting: deque[FoundFile] = deque()

    def source_files() -> Iterator[SourceFile]:
        for file in chain([first], files):
            waiting.append(file)
            yield file.source_file()

    limits = settings.parsing_limits()
    if settings.parser_workers == 0:
        from indexer.parsing.reading import parse_file

        for source in source_files():
            yield waiting.popleft(), parse_file(source, limits)
        return
    from indexer.parsing.pool import ParserPool

    workers = settings.parser_workers or min(MOST_WORKERS, max(1, (os.cpu_count() or 1) // 2))
    with ParserPool(limits, workers) as pool:
        for _, contents in pool.parse(source_files()):
            yield waiting.popleft(), contents
