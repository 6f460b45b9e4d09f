"""What a chunk is, and what chunking needs of an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Counted(Protocol):
    """A text as the embedder reads it."""

    @property
    def tokens(self) -> int:
        """How many tokens the text has, special ones and the prefix not counted."""


Reading = TypeVar("Reading", bound=Counted)


class Tokens(Protocol[Reading]):
    """What chunking needs of an embedder."""

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return for each text the character offsets (start, end) of its tokens."""

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """Return each text as it is to be embedded, whole."""


@dataclass(frozen=True)
class Chunk(Generic[Reading]):
    """A stretch of a text: `text[start:end]`, and where it stands."""

    start: int
    end: int
    reading: Reading
    """The context and the stretch, as the embedder reads them."""
    context: str = ""
    """The header of the table whose later rows it holds."""
    heading_path: tuple[str, ...] = ()
    """The headings that it stands under, the outermost first."""
    page: int | None = None
    """The page that it begins on, from 1, where the format has pages."""

    @property
    def tokens(self) -> int:
        """Return how many tokens are embedded."""
        return self.reading.tokens


def embedded_text(context: str, text: str) -> str:
    """Return what is embedded of a chunk."""
    return f"{context}\n{text}" if context else text
