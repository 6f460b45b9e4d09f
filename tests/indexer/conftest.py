"""A real embedding model, small enough to be run thousands of times: a random BERT of one layer."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.embedding import Embedder
from indexer.index import Index
from indexer.settings import PACKAGED_EMBEDDER, IndexerSettings

TINY_TOKENS = 64
TINY_DIMENSION = 32


def make_tiny_embedder(
    folder: Path, *, seed: int = 0, dimension: int = TINY_DIMENSION, prompts: dict[str, str] | None = None
) -> Path:
    """Save a random sentence-transformers model that knows letters and digits, and reads 64 tokens."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    folder.mkdir(parents=True)
    characters = string.ascii_lowercase + string.digits + string.punctuation
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *(f"##{character}" for character in characters)]
    tokenizer = BertTokenizer(vocab={word: number for number, word in enumerate(words)})
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=dimension,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=TINY_TOKENS,
    )
    inner = folder / "transformer"
    BertModel(config).save_pretrained(inner)
    tokenizer.save_pretrained(inner)
    transformer = Transformer(str(inner), max_seq_length=TINY_TOKENS)
    model = SentenceTransformer(modules=[transformer, Pooling(dimension)], prompts=prompts)
    saved = folder / "model"
    model.save(str(saved), create_model_card=False)
    return saved


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_embedder(tmp_path_factory.mktemp("embedders") / "tiny")


@pytest.fixture(scope="session")
def tiny(tiny_path: Path) -> Embedder:
    return Embedder.load(str(tiny_path), threads=1)


@pytest.fixture(scope="session")
def packaged() -> Embedder:
    """Return the embedding model that is installed with Openbook."""
    return Embedder.load(PACKAGED_EMBEDDER)


@pytest.fixture
def settings(tiny_path: Path) -> IndexerSettings:
    return IndexerSettings(
        embedder=str(tiny_path), chunk_tokens=40, embedder_threads=1, lock_wait_seconds=0.2, parser_workers=0
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def index(store: Path, settings: IndexerSettings) -> Iterator[Index]:
    opened = Index.open(store, settings=settings)
    yield opened
    opened.close()


def sentence(random_: random.Random) -> str:
    """Return some invented words."""
    return " ".join("".join(random_.choices(string.ascii_lowercase, k=4)) for _ in range(5)) + "."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder for documents."""
    made = tmp_path / "documents"
    made.mkdir()
    return made
