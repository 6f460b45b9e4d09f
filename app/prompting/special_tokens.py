"""Control tokens written as text: `<|im_start|>system` inside a document must stay text.

The engine tokenises a rendered chat, so a special token's spelling in a passage or a question would become the token
itself and could open a turn of its own. A zero-width space after its first character keeps it readable and breaks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ZERO_WIDTH_SPACE = "\u200b"
COMMON = re.compile(r"<\|[^|<>\s]{1,40}\|>|</?s>|<(?:bos|eos|pad|unk|start_of_turn|end_of_turn)>|\[/?INST\]|<</?SYS>>")
"""The spellings of the widespread model families, for engines whose tokenizer is not at hand."""


class SpecialTokens:
    """The special tokens of one tokenizer, together with the common ones."""

    def __init__(self, tokens: Iterable[str] = ()) -> None:
        """Take the tokenizer's own special tokens."""
        own = [re.escape(token) for token in sorted(set(tokens), key=len, reverse=True) if len(token) > 1]
        self._pattern = re.compile("|".join([*own, COMMON.pattern]))

    def neutralise(self, text: str) -> str:
        """Return the text with every special token broken; a text without any comes back as it is."""
        return self._pattern.sub(lambda found: found[0][0] + ZERO_WIDTH_SPACE + found[0][1:], text)
