"""Chunks: whole, in order, short enough, and cut where a reader would cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.chunking import CHARACTERS_PER_TOKEN, chunk_texts
from indexer.embedding import Embedder
from indexer.parsing.markdown import headings

LIMIT = 20


class Words:
    """A tokenizer whose tokens are the runs of letters, so that a test can count by hand."""

    def token_spans(self, texts):
        spans = []
        for text in texts:
            found, start = [], None
            for position, character in enumerate([*text, " "]):
                if character.isspace() and start is not None:
                    found.append((start, position))
                    start = None
                elif not character.isspace() and start is None:
                    start = position
            spans.append(found)
        return spans


def cut(text: str, limit: int, tokens=None) -> list[str]:
    (chunks,) = chunk_texts([text], [headings(text)], tokens or Words(), limit)
    return [text[chunk.start : chunk.end] for chunk in chunks]


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


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400)
WESTERN = st.text(st.sampled_from("ab .\n#éß\u3000床。😀\u0301-"), max_size=400)


@pytest.mark.parametrize("model", ["tiny", "packaged"])
@settings(max_examples=150, deadline=None)
@given(text=ANY_TEXT | WESTERN)
def test_chunks_hold_every_character_but_white_space_once_and_in_order(text, model, request):
    embedder: Embedder = request.getfixturevalue(model)
    (chunks,) = chunk_texts([text], [headings(text)], embedder, LIMIT)
    pieces = [text[chunk.start : chunk.end] for chunk in chunks]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(before.end <= after.start for before, after in itertools.pairwise(chunks))
    assert all(piece and piece == piece.strip() for piece in pieces)


@pytest.mark.parametrize("model", ["tiny", "packaged"])
@settings(max_examples=100, deadline=None)
@given(text=ANY_TEXT | WESTERN)
def test_no_chunk_is_longer_than_allowed_when_it_is_counted_alone(text, model, request):
    embedder: Embedder = request.getfixturevalue(model)
    (chunks,) = chunk_texts([text], [headings(text)], embedder, LIMIT)
    for chunk in chunks:
        (alone,) = embedder.token_spans([text[chunk.start : chunk.end]])
        assert chunk.tokens == len(alone)
        assert len(alone) <= LIMIT or chunk.end - chunk.start == 1
