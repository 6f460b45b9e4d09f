"""Files that were handed over one by one, such as uploads: nothing is looked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexer.sources.sources import Sources
from indexer.sources.walking import FoundFile, SkippedFile


class GivenFiles(Sources):
    """Files in the order given. None of them can be found missing, and each is read each time."""

    def __init__(self, files: Sequence[FoundFile]) -> None:
        """Take files whose bytes lie in a place of their own."""
        super().__init__(())
        self._files = tuple(files)

    def check(self) -> None:
        """Accept them: whoever gives them has looked."""

    def __iter__(self) -> Iterator[FoundFile | SkippedFile]:
        """Yield the files."""
        yield from self._files
