"""Chunks: whole, in order, short enough, and cut where a reader would cut."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.schema import Document
from indexer.chunking import Cutting, chunk_documents, embedded_text
from indexer.chunking.cutting import CHARACTERS_PER_TOKEN
from indexer.embedding import Embedder
from indexer.parsing.markdown import headings
from indexer.parsing.source import Parsed, Table

LIMIT = 20


@dataclass(frozen=True)
class Count:
    tokens: int


class Words:
    """A tokenizer whose tokens are the runs of letters, so that a test can count by hand."""

    def token_spans(self, texts):
        return [[match.span() for match in re.finditer(r"\S+", text)] for text in texts]

    def read(self, texts):
        return [Count(len(text.split())) for text in texts]


def parse(text: str, tables=(), pages=()) -> Parsed:
    return Parsed(Document(id="d", text=text), "", 0, tuple(headings(text)), tuple(tables), tuple(pages))


def chunks_of(parsed: Parsed, limit: int, tokens=None, overlap: int = 0):
    (chunks,) = chunk_documents([parsed], tokens or Words(), Cutting(limit, overlap))
    return chunks


def cut(text: str, limit: int, overlap: int = 0) -> list[str]:
    return [text[chunk.start : chunk.end] for chunk in chunks_of(parse(text), limit, overlap=overlap)]


def test_a_text_that_fits_is_one_chunk():
    text = "# Ferry\n\nThe ferry costs four shells.\n\nIt leaves at nine."
    assert cut(text, 20) == [text]


def test_a_long_text_is_cut_before_a_heading():
    assert cut("a b c d e f\n\ng h\n\n# I\n\nj k l\n\nm n o p", 12) == ["a b c d e f\n\ng h", "# I\n\nj k l\n\nm n o p"]


def test_a_paragraph_is_kept_whole_where_it_fits():
    assert cut("one two three four five\n\nsix seven eight nine ten", 8) == [
        "one two three four five",
        "six seven eight nine ten",
    ]


def test_a_sentence_is_kept_whole_where_it_fits():
    assert cut("one two three four. five six seven eight nine ten", 6) == [
        "one two three four.",
        "five six seven eight nine ten",
    ]


def test_a_heading_is_not_left_behind_at_the_end_of_a_chunk():
    chunks = cut("a b c d e f g\n\n# H\n\ni j k l m n o p q r", 10)
    assert not any(chunk.endswith("# H") for chunk in chunks)


def test_a_comment_in_code_is_no_heading():
    text = "```\n# not a heading\n```\n# Heading"
    assert [text[heading.start : heading.end] for heading in headings(text)] == ["# Heading"]


def test_the_last_chunk_is_not_a_crumb():
    words = [f"w{number}" for number in range(21)]
    chunks = cut(" ".join(words), 20)
    assert [len(chunk.split()) for chunk in chunks] == [16, 5]


def test_one_endless_word_is_cut_all_the_same():
    chunks = cut("x" * 10_000, 10)
    assert "".join(chunks) == "x" * 10_000
    assert max(map(len, chunks)) == 10 * CHARACTERS_PER_TOKEN


def test_time_grows_with_the_length_of_the_white_space_alone():
    assert cut("a" + " \n" * 200_000 + "b", 1) == ["a", "b"]


def test_a_chunk_knows_the_headings_that_it_stands_under():
    text = "intro a b c\n\n# Ferry\n\na b c d\n\n## Price\n\ne f g h\n\n# Mint\n\ni j k l"
    paths = [
        (text[each.start : each.end].split(maxsplit=1)[0], each.heading_path) for each in chunks_of(parse(text), 6)
    ]
    assert paths == [("intro", ()), ("#", ("Ferry",)), ("##", ("Ferry", "Price")), ("#", ("Mint",))]


def test_a_chunk_knows_the_page_that_it_begins_on():
    text = "a b c d\n\ne f g h\n\ni j k l"
    parsed = parse(text, pages=(0, text.index("e"), text.index("i")))
    assert [chunk.page for chunk in chunks_of(parsed, 4)] == [1, 2, 3]
    assert [chunk.page for chunk in chunks_of(parse(text), 4)] == [None] * 3


HEADER = "| guild | warden |\n|---|---|\n"
ROWS = "".join(f"| g{number} | w{number} |\n" for number in range(12))
TABLE = f"Before it.\n\n{HEADER}{ROWS}\nBehind it."


def table_in(text: str) -> Table:
    start = text.index("| guild")
    return Table(start, start + len(HEADER), start + len(HEADER) + len(ROWS))


def test_a_long_table_is_cut_between_rows_and_each_part_is_read_with_its_header():
    chunks = chunks_of(parse(TABLE, [table_in(TABLE)]), 30)
    pieces = [TABLE[chunk.start : chunk.end] for chunk in chunks]
    assert len(pieces) > 2
    assert pieces[0].startswith("Before it.\n\n| guild")
    assert chunks[0].context == ""
    for chunk, piece in zip(chunks[1:], pieces[1:], strict=True):
        assert chunk.context == HEADER.strip()
        assert piece.startswith("| g")
    assert all(chunk.tokens <= 30 for chunk in chunks)
    assert sorted(re.findall(r"\| (g\d+)", "".join(pieces))) == sorted(f"g{number}" for number in range(12))


def test_the_header_of_a_table_is_not_left_behind_by_its_first_row():
    text = "a b c d e f g h\n\n" + HEADER + ROWS
    pieces = [text[chunk.start : chunk.end] for chunk in chunks_of(parse(text, [table_in(text)]), 20)]
    assert not any(piece.endswith("|---|---|") for piece in pieces)


def test_a_header_longer_than_half_a_chunk_is_cut_where_it_is_repeated():
    header = " ".join(f"column{number}" for number in range(40)) + "\n"
    rows = "\n".join(f"{number} a b c d" for number in range(20))
    parsed = parse(header + rows, [Table(0, len(header), len(header) + len(rows))])
    chunks = chunks_of(parsed, 20)
    assert all(chunk.tokens <= 20 for chunk in chunks)
    assert {chunk.context for chunk in chunks if chunk.start > len(header)} == {" ".join(header.split()[:10])}


def test_with_overlap_a_chunk_repeats_the_last_sentence_of_the_one_before_it():
    text = "one two three. four five six. seven eight nine. ten eleven twelve."
    assert cut(text, 6) == ["one two three. four five six.", "seven eight nine. ten eleven twelve."]
    assert cut(text, 6, overlap=3) == [
        "one two three. four five six.",
        "four five six. seven eight nine.",
        "seven eight nine. ten eleven twelve.",
    ]


def test_nothing_from_in_front_of_a_heading_is_repeated():
    assert cut("a b c d e f\n\n# H\n\ni j k l m n", 8, overlap=4) == ["a b c d e f", "# H\n\ni j k l m n"]


def test_the_last_sentence_of_a_text_longer_than_the_embedder_reads_is_found(packaged):
    filler = " ".join(f"The warden of guild number {number} keeps a lamp." for number in range(60))
    text = f"{filler} The code is 4417."
    (reading,) = packaged.read([text])
    assert reading.tokens > 600
    chunks = chunks_of(parse(text), packaged.passage_tokens, packaged)
    vectors = packaged.embed([chunk.reading for chunk in chunks])
    best = chunks[int(np.argmax(vectors @ packaged.embed_query("What is the code?")))]
    assert "The code is 4417." in text[best.start : best.end]


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400)
WESTERN = st.text(st.sampled_from("ab .\n#éß\u3000床。😀\u0301-"), max_size=400)


@pytest.mark.parametrize("model", ["tiny", "packaged"])
@settings(max_examples=150, deadline=None)
@given(text=ANY_TEXT | WESTERN)
def test_chunks_hold_every_character_but_white_space_once_and_in_order(text, model, request):
    embedder: Embedder = request.getfixturevalue(model)
    chunks = chunks_of(parse(text), LIMIT, embedder)
    pieces = [text[chunk.start : chunk.end] for chunk in chunks]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(before.end <= after.start for before, after in itertools.pairwise(chunks))
    assert all(piece and piece == piece.strip() for piece in pieces)


@pytest.mark.parametrize("model", ["tiny", "packaged"])
@settings(max_examples=100, deadline=None)
@given(text=ANY_TEXT | WESTERN)
def test_no_chunk_is_longer_than_allowed_when_it_is_counted_alone(text, model, request):
    embedder: Embedder = request.getfixturevalue(model)
    chunks = chunks_of(parse(text), LIMIT, embedder)
    for chunk in chunks:
        (alone,) = embedder.token_spans([text[chunk.start : chunk.end]])
        assert chunk.tokens == len(alone)
        assert len(alone) <= LIMIT or chunk.end - chunk.start == 1


@st.composite
def laid_out(draw: st.DrawFn) -> Parsed:
    """Return a document of any text with a table and pages at any places in it."""
    text = draw(ANY_TEXT | WESTERN)
    places = sorted(draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    return parse(text, [Table(*places[:3])] if places[0] < places[2] else [], (0, places[3]))


@settings(max_examples=300, deadline=None)
@given(parsed=laid_out(), limit=st.integers(8, 40), overlap=st.integers(0, 30))
def test_whatever_the_layout_and_the_overlap_chunks_are_in_order_and_nothing_is_lost(parsed, limit, overlap, tiny):
    text = parsed.document.text
    chunks = chunks_of(parsed, limit, tiny, overlap)
    held = {place for chunk in chunks for place in range(chunk.start, chunk.end)}
    assert {place for place, character in enumerate(text) if not character.isspace()} <= held
    assert all(before.start < after.start and before.end < after.end for before, after in itertools.pairwise(chunks))
    for chunk in chunks:
        piece = text[chunk.start : chunk.end]
        assert piece
        assert piece == piece.strip()
        (whole,) = tiny.read([embedded_text(chunk.context, piece)])
        assert whole.tokens == chunk.tokens
        assert whole.tokens <= limit or chunk.end - chunk.start == 1
