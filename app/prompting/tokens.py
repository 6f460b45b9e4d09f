"""How many tokens a prompt takes, with the served model's own tokenizer and chat template where they are at hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from tokenizers import AddedToken, Tokenizer

from app.prompting.chat_template import ChatTemplate
from app.prompting.special_tokens import ZERO_WIDTH_SPACE, SpecialTokens
from app.schemas.prompt import Message

TOKENS_PER_MESSAGE = 8
"""An allowance for the role and the control tokens that a chat template puts around a message: ChatML takes 5."""
SLACK_PER_MESSAGE = 2
"""By how many tokens a message can be longer within its chat than by itself."""
KEPT_LINES = 4096
"""Lines of prompts and passages whose number of tokens is kept."""
CHARACTERS_PER_TOKEN = 3.0
"""A careful estimate of plain letters where no tokenizer is at hand: English has about 4. Of all else a byte is one."""
PLAIN = re.compile(r"[A-Za-z\s]")
BREAKERS = (ZERO_WIDTH_SPACE, "\u2060", " ", "·")
"""What may break a control token, the least visible first: a tokenizer that drops a character needs another one."""
BRACKETED = re.compile(r"[<\[|{].*[>\]|}]", re.DOTALL)
"""Added tokens that structure a text, such as `<tool_call>`, though their tokenizer does not call them special."""


class TokenCounter:
    """Counts the tokens of chat messages."""

    def __init__(self, model: Path | None) -> None:
        """Read tokenizer and chat template of a model's folder; without them, counts err on the high side."""
        file = model / "tokenizer.json" if model else None
        self._tokenizer = Tokenizer.from_file(str(file)) if file and file.is_file() else None
        self._template = ChatTemplate.load(model) if model and self._tokenizer else None
        # The fixed messages of a prompt come with every question, and passages with many; they are counted once.
        self.count = lru_cache(maxsize=64)(self._count)
        self._count_line = lru_cache(maxsize=KEPT_LINES)(self._count)
        self.takes_system = self._template is None or self._template.takes_system
        self.special_tokens = self._special_tokens()
        self._fixed, self._per_message = self._overhead()

    def fits(self, messages: Sequence[Message], budget: int) -> bool:
        """Say whether the messages take at most `budget` tokens; to the token, where the chat template is at hand."""
        left = budget - self._fixed - self._per_message * len(messages)
        # A token is at least one byte, so many prompts need no counting.
        if sum(len(message.content.encode()) for message in messages) <= left:
            return True
        if sum(self.at_most(message.content) for message in messages) <= left:
            return True
        if sum(self.count(message.content) for message in messages) <= left:
            return True
        return self._template is not None and self.exactly(messages) <= budget

    def at_most(self, text: str) -> int:
        """Return how many tokens a text has, or some more; quickly where its lines were counted before.

        Tokenizers cut a text before they merge its characters, and never leave a word together with a line break that
        follows it. So a text has no more tokens than its lines have, and one for each break.
        """
        lines = text.split("\n")
        if any(line != line.strip() for line in lines):
            # White space at the edge of a line is cut in another way beside a break.
            return self.count(text)
        return len(lines) - 1 + sum(self._count_line(line) for line in lines if line)

    def exactly(self, messages: Sequence[Message]) -> int:
        """Return how many tokens the engine makes of the messages, or an estimate that errs on the high side."""
        if self._template is None:
            return self._fixed + sum(self._per_message + self.count(message.content) for message in messages)
        return self._count(self._template.render(messages))

    def _count(self, text: str) -> int:
        if self._tokenizer is None:
            plain = len(PLAIN.findall(text))
            return round(plain / CHARACTERS_PER_TOKEN) + len(text.encode()) - plain + 1
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _overhead(self) -> tuple[int, int]:
        """Return the tokens that the template adds at most, by itself and for each message."""
        if self._template is None:
            return 0, TOKENS_PER_MESSAGE
        user, assistant = Message(role="user", content="x"), Message(role="assistant", content="x")
        system = [Message(role="system", content="x")] if self.takes_system else []
        one, three = self.exactly([user]), self.exactly([user, assistant, user])
        per_message = -(-(three - one) // 2)
        fixed = max(one, self.exactly([*system, user]) - per_message * len(system))
        return fixed, per_message + SLACK_PER_MESSAGE

    def _special_tokens(self) -> SpecialTokens:
        if self._tokenizer is None:
            return SpecialTokens()
        control = {
            number: token for number, token in self._tokenizer.get_added_tokens_decoder().items() if _is_control(token)
        }
        spellings = [token.content for token in control.values()]
        for breaker in BREAKERS:
            special_tokens = SpecialTokens(spellings, breaker)
            broken = special_tokens.neutralise("\n".join(spellings))
            if not control.keys() & set(self._tokenizer.encode(broken, add_special_tokens=False).ids):
                return special_tokens
        return special_tokens


def _is_control(token: AddedToken) -> bool:
    return bool(token.special or BRACKETED.fullmatch(token.content))
