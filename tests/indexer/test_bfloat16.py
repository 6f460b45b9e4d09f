"""What rounding to bfloat16 does to a search: checked against float32 on the shipped corpus and all its questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from corpus.loading import load_corpus
from corpus.processor import has_bfloat16_units
from indexer.chunking import Cutting, chunk_documents
from indexer.embedding import Embedder
from indexer.parsing.markdown import headings
from indexer.parsing.source import Parsed
from indexer.settings import PACKAGED_EMBEDDER

SHIPPED = Path(__file__).parents[2] / "corpus" / "lormar"
TIE = 0.001
"""Passages whose cosines differ by less are taken to be as good as each other."""


@pytest.mark.slow
@pytest.mark.skipif(not has_bfloat16_units(), reason="needs a processor with units for bfloat16")
def test_bfloat16_finds_the_same_ten_passages_as_float32_up_to_ties_for_99_of_100_questions():
    corpus = load_corpus(SHIPPED)
    exact, rounded = (Embedder.load(PACKAGED_EMBEDDER, dtype=dtype) for dtype in ("float32", "bfloat16"))
    assert rounded.dtype == "bfloat16"
    parsed = [Parsed(document, "", 0, tuple(headings(document.text))) for document in corpus.documents]
    readings = [chunk.reading for chunks in chunk_documents(parsed, exact, Cutting(128)) for chunk in chunks]
    passages, rounded_passages = exact.embed(readings), rounded.embed(readings)
    same = []
    for question in corpus.questions:
        scores = passages @ exact.embed_query(question.question)
        tenth = np.sort(scores)[-10]
        found = np.argsort(-(rounded_passages @ rounded.embed_query(question.question)))[:10]
        # Nothing found that is worse than the tenth by more than a tie, and nothing left out that is better by more.
        left_out = np.delete(scores, found)
        same.append(scores[found].min() > tenth - TIE and left_out.max() < tenth + TIE)
    assert np.mean(same) >= 0.99
