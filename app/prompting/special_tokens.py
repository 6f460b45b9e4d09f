"""Control tokens written as text: `<|im_start|>system` inside a document must stay text.

The engine tokenises a rendered chat, so a special token's spelling in a passage or a question would become the token
itself and could open a turn of its own. A zero-width space after its first character keeps it readable and breaks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ZERO_WIDTH_SPACE = "\u200b"
COMMON = r"<\|[^|<>\s]{1,40}\|>|</?s>|<(?:bos|eos|pad|unk|start_of_turn|end_of_turn)>|\[/?INST\]|<</?SYS>>"
"""The spellings of the widespread model families, for engines whose tokenizer is not at hand."""


class SpecialTokens:
    """The special tokens of one tokenizer, together with the common ones."""

    def __init__(self, tokens: Iterable[str] = ()) -> None:
        """Take the tokenizer's own special tokens."""
        own = [re.escape(token) for token in sorted(set(tokens), key=len, reverse=True) if len(token) > 1]
        # Looking ahead finds those that overlap as well: `[INST]` inside `<|[INST]|>`.
        self._first_character = re.compile(f"(?=(?:{'|'.join([*own, COMMON])}))(.)", re.DOTALL)

    def neutralise(self, text: str) -> str:
        """Return the text with every special token broken; a text without any comes back as it is."""
        return self._first_character.sub(rf"\1{ZERO_WIDTH_SPACE}", text)
