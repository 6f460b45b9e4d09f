"""Documents cut into chunks along their structure, measured in the embedder's own tokens.

Every chunk is a stretch of the text, `text[start:end]`, that neither starts nor ends with white space; chunks do not
overlap, and together they hold everything but white space. A text that fits is one chunk.

Where a longer text is cut: of all places that leave the chunk at least half full, the last one of the strongest kind
(before a heading, between paragraphs, between lines, after a sentence, between words, anywhere).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from indexer.parsing.source import Heading

CHARACTERS_PER_TOKEN = 16
"""A chunk holds at most this many characters for each token allowed: a tokenizer may call a page of gibberish one
unknown token."""
LEAST_FILL = 0.5
"""How full a chunk must be for a stronger boundary to be preferred to a later one."""


class Tokens(Protocol):
    """What chunking needs of an embedder."""

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return for each text the character offsets (start, end) of its tokens."""


@dataclass(frozen=True)
class Chunk:
    """A stretch of a text: `text[start:end]`."""

    start: int
    end: int
    tokens: int


class Boundary(IntEnum):
    """Kinds of places where a text may be cut, the strongest last."""

    ANYWHERE = 0
    WORD = 1
    SENTENCE = 2
    LINE = 3
    PARAGRAPH = 4
    HEADING = 5


PATTERNS = {
    Boundary.WORD: re.compile(r"\s+"),
    # A full stop ends a sentence where white space follows it; the CJK ones need none.
    Boundary.SENTENCE: re.compile(r"""[.!?…]["'”’)\]]?\s+|[。！？]\s*"""),
    Boundary.LINE: re.compile(r"\n\s*"),
    Boundary.PARAGRAPH: re.compile(r"\n[^\S\n]*\n\s*"),
}
"""What lies in front of a boundary of each kind; the chunk behind it begins where the match ends."""


def chunk_texts(
    texts: Sequence[str], headings: Sequence[Sequence[Heading]], tokens: Tokens, chunk_tokens: int
) -> list[tuple[Chunk, ...]]:
    """Cut each text into chunks of at most `chunk_tokens` tokens.

    Args:
        texts: the texts to cut.
        headings: for each text its headings, in their order.
        tokens: the embedder, which says where its tokens lie.
        chunk_tokens: the longest chunk, special tokens not counted.
    """
    spans = tokens.token_spans(texts)
    plans = [
        _plan(text, lines, [start for start, _ in spans_], chunk_tokens)
        for text, lines, spans_ in zip(texts, headings, spans, strict=True)
    ]
    return _counted(texts, plans, tokens, chunk_tokens)


def _counted(
    texts: Sequence[str], plans: list[list[tuple[int, int]]], tokens: Tokens, chunk_tokens: int
) -> list[tuple[Chunk, ...]]:
    """Count the tokens of each stretch by itself, and halve those that are longer alone than they were in the text."""
    done: list[list[Chunk]] = [[] for _ in texts]
    open_ = [(number, start, end) for number, plan in enumerate(plans) for start, end in plan]
    while open_:
        spans = tokens.token_spans([texts[number][start:end] for number, start, end in open_])
        too_long: list[tuple[int, int, int]] = []
        for (number, start, end), spans_ in zip(open_, spans, strict=True):
            if len(spans_) <= chunk_tokens or end - start == 1:
                done[number].append(Chunk(start, end, len(spans_)))
            else:
                too_long += [(number, *half) for half in _halves(texts[number], start, end)]
        open_ = too_long
    return [tuple(sorted(chunks, key=lambda chunk: chunk.start)) for chunks in done]


def _plan(text: str, headings: Sequence[Heading], starts: list[int], limit: int) -> list[tuple[int, int]]:
    """Return the stretches into which a text is to be cut, by the tokens of the whole text."""
    position, end = _trimmed(text, 0, len(text))
    boundaries = _Boundaries(text, headings, end)
    stretches: list[tuple[int, int]] = []
    while position < end:
        cut = _cut(boundaries, starts, position, end, limit)
        stretch = _trimmed(text, position, cut)
        if stretch[0] < stretch[1]:
            stretches.append(stretch)
        position = _trimmed(text, cut, end)[0]
    return stretches


def _cut(boundaries: _Boundaries, starts: list[int], position: int, end: int, limit: int) -> int:
    """Return where the chunk that begins at `position` ends."""
    first = bisect_left(starts, position)
    left = bisect_left(starts, end) - first
    farthest = position + limit * CHARACTERS_PER_TOKEN
    if left <= limit and end <= farthest:
        return end
    # Leave something worth finding for the last chunk.
    most = max(1, min(limit, left - limit // 4))
    latest = starts[first + most] if first + most < len(starts) else end
    latest = max(position + 1, min(latest, farthest, end))
    half = first + int(most * LEAST_FILL)
    earliest = starts[half] if half < len(starts) else position
    return boundaries.strongest(max(position, min(earliest, latest - 1)), latest)


class _Boundaries:
    """The places where a text may be cut, by kind."""

    def __init__(self, text: str, headings: Sequence[Heading], end: int) -> None:
        # A heading stays with what it is the heading of.
        behind_heading = {_trimmed(text, heading.end, end)[0] for heading in headings}
        self._places: dict[Boundary, list[int]] = {Boundary.HEADING: [heading.start for heading in headings]}
        for kind, pattern in PATTERNS.items():
            places = [match.end() for match in pattern.finditer(text, 0, end)]
            self._places[kind] = [place for place in places if place not in behind_heading]

    def strongest(self, after: int, latest: int) -> int:
        """Return the last place of the strongest kind in (after, latest], or `latest` where there is none."""
        for kind in sorted(self._places, reverse=True):
            places = self._places[kind]
            at = bisect_right(places, latest) - 1
            if at >= 0 and places[at] > after:
                return places[at]
        return latest


def _halves(text: str, start: int, end: int) -> list[tuple[int, int]]:
    middle = (start + end) // 2
    halves = (_trimmed(text, start, middle), _trimmed(text, middle, end))
    return [half for half in halves if half[0] < half[1]]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Move both ends of a stretch inwards over white space."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
