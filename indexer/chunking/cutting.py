"""Documents cut into chunks: planned by the tokens of the whole text, then counted one by one.

Every chunk is a stretch of the text, `text[start:end]`, that neither starts nor ends with white space; together they
hold everything but white space, in order. Without overlap no two share a character. A text that fits is one chunk.

Where a longer text is cut: of all places that leave the chunk at least half full, the last one of the strongest kind
(before a heading, between paragraphs, between lines, after a sentence, between words, anywhere). A chunk that begins
among the rows of a table has the table's header as its context, and is the shorter for it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from indexer.chunking.boundaries import Boundaries
from indexer.chunking.chunk import Chunk, Reading, Tokens, embedded_text
from indexer.chunking.placing import Places
from indexer.chunking.stretch import halves, trimmed
from indexer.parsing.source import Parsed

CHARACTERS_PER_TOKEN = 16
"""A chunk holds at most this many characters for each token allowed: a tokenizer may call a page of gibberish one
unknown token."""
LEAST_FILL = 0.5
"""How full a chunk must be for a stronger boundary to be preferred to a later one."""
MOST_HEADER = 0.5
"""The share of a chunk that the header of its table may take; a longer one is cut."""
MOST_OVERLAP = 0.5
"""The share of a chunk that may repeat the one before it."""


@dataclass(frozen=True)
class Cutting:
    """How texts are cut, in tokens of the embedder; special tokens are not counted."""

    tokens: int
    """The longest chunk."""
    overlap: int = 0
    """How much a chunk repeats of the end of the one before it, at most."""


def chunk_documents(
    documents: Sequence[Parsed], tokens: Tokens[Reading], cutting: Cutting
) -> list[tuple[Chunk[Reading], ...]]:
    """Cut each document into chunks.

    Args:
        documents: what is cut.
        tokens: the embedder, which says where its tokens lie.
        cutting: how long a chunk may be, and how much of the last one it repeats.
    """
    spans = tokens.token_spans([parsed.document.text for parsed in documents])
    planned = [_Plan(parsed, spans_, tokens, cutting) for parsed, spans_ in zip(documents, spans, strict=True)]
    return _counted(planned, tokens, cutting.tokens)


class _Plan:
    """The stretches into which one document is to be cut, by the tokens of its whole text."""

    def __init__(self, parsed: Parsed, spans: list[tuple[int, int]], tokens: Tokens[Any], cutting: Cutting) -> None:
        self.text = parsed.document.text
        self.places = Places(parsed)
        self._starts = [start for start, _ in spans]
        self._tokens = tokens
        self._cutting = cutting
        self._headers: dict[str, tuple[str, int]] = {"": ("", 0)}
        first, self._end = trimmed(self.text, 0, len(self.text))
        self._boundaries = Boundaries(parsed, self._end)
        self.stretches = self._cut_all(first)

    def context(self, start: int) -> str:
        """Return what is read in front of a stretch that begins at `start`."""
        return self._header(start)[0]

    def _cut_all(self, position: int) -> list[tuple[int, int]]:
        stretches: list[tuple[int, int]] = []
        while position < self._end:
            # Never back to where the last one began, so that they stay in order.
            begin = self._repeated(position, stretches[-1][0] + 1) if stretches else position
            cut = self._cut(begin, position)
            stretch = trimmed(self.text, begin, cut)
            if stretch[0] < stretch[1]:
                stretches.append(stretch)
            position = trimmed(self.text, cut, self._end)[0]
        return stretches

    def _repeated(self, position: int, least: int) -> int:
        overlap = min(self._cutting.overlap, int(self._cutting.tokens * MOST_OVERLAP))
        if not overlap:
            return position
        first = bisect_left(self._starts, position)
        earliest = self._starts[max(0, first - overlap)] if self._starts else position
        far = position - overlap * CHARACTERS_PER_TOKEN
        return self._boundaries.overlapping(max(least, earliest, far), position)

    def _cut(self, begin: int, position: int) -> int:
        """Return where the chunk that begins at `begin`, with something new from `position` on, ends."""
        starts, end = self._starts, self._end
        limit = max(1, self._cutting.tokens - self._header(begin)[1])
        first = bisect_left(starts, begin)
        left = bisect_left(starts, end) - first
        farthest = begin + limit * CHARACTERS_PER_TOKEN
        if left <= limit and end <= farthest:
            return end
        # Leave something worth finding for the last chunk.
        most = max(1, min(limit, left - limit // 4))
        latest = starts[first + most] if first + most < len(starts) else end
        latest = max(position + 1, min(latest, farthest, end))
        half = first + int(most * LEAST_FILL)
        earliest = starts[half] if half < len(starts) else position
        return self._boundaries.strongest(max(position, min(earliest, latest - 1)), latest)

    def _header(self, start: int) -> tuple[str, int]:
        """Return the header of the table in whose rows `start` lies, and how many tokens it takes."""
        whole = self.places.header(start)
        if whole not in self._headers:
            (spans,) = self._tokens.token_spans([whole])
            most = max(1, int(self._cutting.tokens * MOST_HEADER))
            header = whole if len(spans) <= most else whole[: spans[most - 1][1]]
            self._headers[whole] = (header, min(len(spans), most))
        return self._headers[whole]


@dataclass(frozen=True)
class _Piece:
    """A stretch of one of the plans, with its context, before it is known to fit."""

    plan: int
    start: int
    end: int
    context: str


def _counted(plans: Sequence[_Plan], tokens: Tokens[Reading], limit: int) -> list[tuple[Chunk[Reading], ...]]:
    """Count the tokens of each stretch by itself, and halve those that are longer alone than they were in the text."""
    done: list[list[Chunk[Reading]]] = [[] for _ in plans]
    open_ = [
        _Piece(number, start, end, plan.context(start))
        for number, plan in enumerate(plans)
        for start, end in plan.stretches
    ]
    while open_:
        readings = tokens.read(
            [embedded_text(each.context, plans[each.plan].text[each.start : each.end]) for each in open_]
        )
        too_long: list[_Piece] = []
        for piece, reading in zip(open_, readings, strict=True):
            if reading.tokens <= limit or (piece.end - piece.start == 1 and not piece.context):
                done[piece.plan].append(_chunk(plans[piece.plan].places, piece, reading))
            else:
                too_long += _shorter(plans[piece.plan], piece)
        open_ = too_long
    return [tuple(sorted(chunks, key=lambda chunk: chunk.start)) for chunks in done]


def _shorter(plan: _Plan, piece: _Piece) -> list[_Piece]:
    if piece.end - piece.start == 1:
        return [_Piece(piece.plan, piece.start, piece.end, "")]
    return [
        _Piece(piece.plan, start, end, plan.context(start)) for start, end in halves(plan.text, piece.start, piece.end)
    ]


def _chunk(places: Places, piece: _Piece, reading: Reading) -> Chunk[Reading]:
    return Chunk(
        piece.start,
        piece.end,
        reading,
        context=piece.context,
        heading_path=places.heading_path(piece.start),
        page=places.page(piece.start),
    )
