"""Control tokens written as text: `<|im_start|>system` inside a document must stay text.

The engine tokenises a rendered chat, so a special token's spelling in a passage or a question would become the token
itself and could open a turn of its own. Something that shows nothing after its first character keeps it readable and
breaks it. What only looks like such a spelling is broken too: some tokenizers fold `＜` to `<`, and a model may.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.prompting.lookalikes import folded, inserted, origins

ZERO_WIDTH_SPACE = "\u200b"
COMMON = r"<\|[^|<>\s]{1,40}\|>|</?s>|<(?:bos|eos|pad|unk|start_of_turn|end_of_turn)>|\[/?INST\]|<</?SYS>>"
"""The spellings of the widespread model families, for engines whose tokenizer is not at hand."""


class SpecialTokens:
    """The special tokens of one tokenizer, together with the common ones."""

    def __init__(self, tokens: Iterable[str] = (), breaker: str = ZERO_WIDTH_SPACE) -> None:
        """Take the tokenizer's own special tokens, and what breaks them."""
        longest_first = sorted({folded(token) for token in tokens}, key=len, reverse=True)
        own = [token for token in longest_first if len(token) > 1]
        first = "".join({"<", "[", *(token[0] for token in own)})
        # Looking ahead finds those that overlap as well: `[INST]` inside `<|[INST]|>`. Most places begin none.
        self._begins = re.compile(
            f"(?=[{re.escape(first)}])(?=(?:{'|'.join([*map(re.escape, own), COMMON])}))", re.IGNORECASE
        )
        self._breaker = breaker

    def neutralise(self, text: str) -> str:
        """Return the text with every special token broken; a text without any comes back as it is."""
        found = [match.start() for match in self._begins.finditer(folded(text))]
        if not found:
            return text
        at = origins(text)
        behind = [at[place] + 1 for place in found]
        return inserted(text, self._breaker, [place for place in behind if not text.startswith(self._breaker, place)])
