"""How many tokens a prompt takes, with the served model's own tokenizer where its files are at hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer

from app.prompting.special_tokens import SpecialTokens
from app.schemas.prompt import Message

TOKENS_PER_MESSAGE = 8
"""An allowance for the role and the control tokens that a chat template puts around a message: ChatML takes 5."""
CHARACTERS_PER_TOKEN = 3.0
"""A careful estimate where no tokenizer is at hand: English text has about 4, code and German about 3."""


class TokenCounter:
    """Counts the tokens of chat messages."""

    def __init__(self, model: Path | None) -> None:
        """Read `tokenizer.json` of a model's folder; without one, counts are estimates that err on the high side."""
        file = model / "tokenizer.json" if model else None
        self._tokenizer = Tokenizer.from_file(str(file)) if file and file.is_file() else None
        # The fixed messages of a prompt come with every question; they are counted once.
        self.count = lru_cache(maxsize=64)(self._count)
        added = self._tokenizer.get_added_tokens_decoder().values() if self._tokenizer else ()
        self.special_tokens = SpecialTokens(token.content for token in added if token.special)

    def fits(self, messages: Sequence[Message], budget: int) -> bool:
        """Say whether the messages take at most `budget` tokens."""
        left = budget - TOKENS_PER_MESSAGE * len(messages)
        # A token is at least one byte, so most prompts need no counting.
        if sum(len(message.content.encode()) for message in messages) <= left:
            return True
        return sum(self.count(message.content) for message in messages) <= left

    def _count(self, text: str) -> int:
        if self._tokenizer is None:
            return round(len(text) / CHARACTERS_PER_TOKEN) + 1
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)
