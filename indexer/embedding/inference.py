"""Texts through the modules of a sentence-transformers model, without what `encode` does around them.

A text is tokenised once: chunking counts the tokens of a piece, and the same tokens are embedded. `encode` sorts,
tokenises, pads and wraps anew at every call, which weighs most for a single question.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

UNKNOWN_LIMIT = 1_000_000
"""A tokenizer that knows no limit says so with a number like 1e30."""
DEFAULT_LIMIT = 512

BFLOAT16_STEP = 16
"""Batches in bfloat16 are filled up to a multiple of this many tokens. In between, a text's vector would be rounded
otherwise beside a longer text than alone: attention adds up this many numbers at a time."""


@dataclass(frozen=True)
class Encoded:
    """A text as the model reads it."""

    ids: list[int]
    """Its tokens, with the special ones and the prefix."""
    types: list[int]
    """The segment of each token."""


class Inference:
    """A model whose modules are called directly."""

    def __init__(self, model: Any) -> None:
        """Take a `SentenceTransformer` with a fast tokenizer.

        Raises:
            TypeError: the model reads something else than the tokens of a text.
        """
        tokenizer = getattr(model.tokenizer, "backend_tokenizer", None)
        if tokenizer is None:
            raise TypeError("it has no fast tokenizer")
        self._model = model
        self.max_tokens = _max_tokens(model)
        self.width_step = 1
        """Batches are filled up to a multiple of this many tokens."""
        # Copies, so that nobody changes their settings while another thread uses them.
        self._whole, self._cut = copy.deepcopy(tokenizer), copy.deepcopy(tokenizer)
        for each in (self._whole, self._cut):
            each.no_padding()
            each.no_truncation()
        self._cut.enable_truncation(self.max_tokens)
        self._padding = int(getattr(model.tokenizer, "pad_token_id", None) or 0)
        self._takes_types = "token_type_ids" in model.tokenizer.model_input_names

    def encode(self, texts: Sequence[str], *, whole: bool = False) -> list[Encoded]:
        """Return each text as the model reads it, cut at the most tokens that it reads unless it is wanted whole."""
        tokenizer = self._whole if whole else self._cut
        return [Encoded(each.ids, each.type_ids) for each in tokenizer.encode_batch_fast(list(texts))]

    def spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return for each text the character offsets (start, end) of its tokens, special tokens left out."""
        return [each.offsets for each in self._whole.encode_batch(list(texts), add_special_tokens=False)]

    def tokens(self, text: str, *, special: bool) -> int:
        """Return how many tokens a text has, with or without the special ones."""
        return len(self._whole.encode(text, add_special_tokens=special).ids)

    def prefix_tokens(self, prefix: str) -> int:
        """Return how many tokens a text that begins with `prefix` begins with, a special one in front included."""
        if not prefix:
            return 0
        encoded = self._whole.encode(prefix)
        return len(encoded.ids) - int(encoded.special_tokens_mask[-1])

    def vectors(self, batch: Sequence[Encoded], prefix_tokens: int) -> npt.NDArray[np.float32]:
        """Return the vectors of a batch, shape (len(batch), dimension), as the model gives them.

        Args:
            batch: texts of like length.
            prefix_tokens: how many tokens each begins with that some models leave out of the mean.
        """
        longest = max(len(encoded.ids) for encoded in batch)
        longest = max(longest, min(-(-longest // self.width_step) * self.width_step, self.max_tokens))
        ids = np.full((len(batch), longest), self._padding, dtype=np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for row, encoded in enumerate(batch):
            length = len(encoded.ids)
            ids[row, :length], mask[row, :length], types[row, :length] = encoded.ids, 1, encoded.types
        features = {"input_ids": ids, "attention_mask": mask} | ({"token_type_ids": types} if self._takes_types else {})
        device = self._model.device
        with torch.inference_mode():
            given = {name: torch.from_numpy(array).to(device) for name, array in features.items()}
            vectors = self._model(given | {"prompt_length": prefix_tokens})["sentence_embedding"]
            return np.asarray(vectors.float().cpu().numpy(), dtype=np.float32)


def _max_tokens(model: Any) -> int:
    known = [model.max_seq_length, getattr(model.tokenizer, "model_max_length", None)]
    return min([int(tokens) for tokens in known if tokens and tokens < UNKNOWN_LIMIT] or [DEFAULT_LIMIT])
