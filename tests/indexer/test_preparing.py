"""What is stored of a document: chunks with their place, read with their context, embedded once."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from corpus.schema import Document
from indexer.chunking import embedded_text
from indexer.errors import EmbedderMismatch, VectorRefused
from indexer.index import Index
from indexer.ingesting.ingest import ingest
from indexer.ingesting.preparing import Pending, Preparer, recipe_of, text_hash
from indexer.parsing.markdown import headings
from indexer.parsing.source import Parsed, Table
from tests.indexer.conftest import make_tiny_embedder

HEADER = "| guild | warden |\n"
ROWS = "".join(f"| guild {number} | warden {number} |\n" for number in range(20))
TEXT = f"# Guilds\n\n{HEADER}{ROWS}"


def pending(text: str = TEXT) -> Pending:
    start = text.find(HEADER)
    tables = [Table(start, start + len(HEADER), len(text))] if start >= 0 else []
    return Pending(Parsed(Document(id="d", text=text), "", 0, tuple(headings(text)), tuple(tables), (0,)), "d.md")


def preparer(embedder, settings, known=None) -> Preparer:
    return Preparer(embedder, settings, recipe_of(settings), lambda _: dict(known or {}))


def test_chunks_are_stored_with_their_header_heading_and_page_and_embedded_with_the_header(tiny, settings):
    (version,) = preparer(tiny, settings).prepare([pending()], lambda _: None)
    assert len(version.chunks) > 3
    for chunk in version.chunks:
        assert chunk.text == TEXT[chunk.start : chunk.end]
        assert (chunk.heading_path, chunk.page) == (("Guilds",), 1)
        read = embedded_text(chunk.context, chunk.text)
        assert chunk.text_hash == text_hash(read)
        np.testing.assert_allclose(np.frombuffer(chunk.vector, np.float32), tiny.embed_passages([read])[0], atol=1e-5)
    assert [chunk.context for chunk in version.chunks[1:]] == [HEADER.strip()] * (len(version.chunks) - 1)


def test_a_chunk_whose_text_has_a_vector_is_not_embedded_again(tiny, settings):
    first = preparer(tiny, settings)
    (version,) = first.prepare([pending()], lambda _: None)
    assert first.embedded == len({chunk.text_hash for chunk in version.chunks})
    again = preparer(tiny, settings, {chunk.text_hash: chunk.vector for chunk in version.chunks})
    (same,) = again.prepare([pending()], lambda _: None)
    assert (again.embedded, same) == (0, version)


class Stub:
    """An embedder whose vector for a text with the word `bad` is not a number."""

    def __init__(self, tiny) -> None:
        self._tiny = tiny
        self.passage_tokens = tiny.passage_tokens
        self.token_spans, self.read = tiny.token_spans, tiny.read

    def embed(self, readings):
        bad = tuple(position for position, reading in enumerate(readings) if "bad" in reading.start)
        if bad:
            raise VectorRefused("not finite", bad)
        return self._tiny.embed(readings)


def test_a_text_whose_vector_is_not_finite_is_refused_and_spoils_no_other(tiny, settings):
    group = [pending("fine"), pending("bad"), pending("fine too")]
    good, refused, also_good = preparer(Stub(tiny), settings).prepare(group, lambda _: None)
    assert isinstance(refused, VectorRefused)
    assert [len(version.chunks) for version in (good, also_good)] == [1, 1]


@pytest.mark.parametrize("change", ["chunk_tokens", "chunk_overlap"])
def test_another_way_of_cutting_is_another_recipe(settings, change):
    assert recipe_of(settings.model_copy(update={change: 21})) != recipe_of(settings)


def test_a_collection_that_was_embedded_with_a_prefix_is_not_searched_without(tmp_path, settings):
    plain = make_tiny_embedder(tmp_path / "plain")
    with_prefix = make_tiny_embedder(tmp_path / "prefixed", prompts={"query": "query: ", "document": "passage: "})
    (tmp_path / "a.md").write_text("The ferry costs four shells.")
    ingest(tmp_path / "store", [tmp_path / "a.md"], "default", embedder=str(with_prefix), settings=settings)
    with (
        closing(Index.open(tmp_path / "store", embedder=str(plain), settings=settings)) as index,
        pytest.raises(EmbedderMismatch, match="query prefix '' instead of 'query: '"),
    ):
        index.search("default", "ferry")
