"""A cross-encoder puts the best passages into its own order."""

from __future__ import annotations

import string

import numpy as np
import pytest

from indexer.errors import RerankerError
from indexer.search.options import SearchOptions
from indexer.search.reranking import Reranker


def make_cross_encoder(folder, labels=1):
    """Save a random cross-encoder of one layer that knows letters."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    characters = string.ascii_lowercase + string.digits + "."
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *(f"##{character}" for character in characters)]
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        num_labels=labels,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizer(vocab={word: number for number, word in enumerate(words)}, model_max_length=64).save_pretrained(
        folder
    )
    return str(folder)


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    return make_cross_encoder(tmp_path_factory.mktemp("cross-encoder"))


@pytest.mark.parametrize("retriever", ["dense", "lexical", "hybrid"])
def test_the_order_is_the_cross_encoders(index, add, cross_encoder, retriever):
    add(**{f"d{number}": f"the ferry {'ab' * number}" for number in range(12)})
    options = SearchOptions(retriever=retriever, rerank=cross_encoder, collapse=False)
    hits = index.search("default", "the ferry", 5, options).hits
    texts = [f"the ferry {'ab' * number}" for number in range(12)]
    scores = Reranker.load(cross_encoder).score("the ferry", texts)
    assert [hit.score for hit in hits] == pytest.approx(np.sort(scores)[::-1][:5].tolist(), abs=1e-5)
    assert {hit.document_id for hit in hits} == {f"d{number}" for number in np.argsort(-scores)[:5]}


def test_near_duplicates_come_last_in_the_cross_encoders_order_too(index, add, cross_encoder):
    add(**{f"d{number}": f"the ferry left at {number}" for number in range(8)}, mill="a mill")
    hits = index.search("default", "the ferry", 9, SearchOptions(rerank=cross_encoder)).hits
    assert [hit.duplicate_of is None for hit in hits] == [True, True] + [False] * 7


@pytest.mark.parametrize(
    ("name", "message"), [("./nowhere", "no folder './nowhere'"), ("/no/such/model", "no folder '/no/such/model'")]
)
def test_a_cross_encoder_that_is_not_there_is_named(name, message):
    with pytest.raises(RerankerError, match=message):
        Reranker.load(name)


def test_a_model_that_is_no_cross_encoder_is_refused(tmp_path):
    with pytest.raises(RerankerError, match="gives 3 scores"):
        Reranker.load(make_cross_encoder(tmp_path, labels=3))
    (tmp_path / "empty").mkdir()
    with pytest.raises(RerankerError, match="cannot be loaded"):
        Reranker.load(str(tmp_path / "empty"))
