"""Earlier turns of a conversation, between the fixed start of a prompt and its question.

They come behind what every prompt begins with, so that the engine still finds that in its prefix cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from app.schemas.prompt import Message


class Conversation:
    """What was said before a question."""

    def __init__(self, history: Sequence[Message], neutralise: Callable[[str], str]) -> None:
        """Take the turns in order, and what makes text of control tokens. Turns without text are left out."""
        said = [Message(role=turn.role, content=neutralise(turn.content)) for turn in history if turn.content.strip()]
        self._instructions = [turn.content for turn in said if turn.role == "system"]
        self._turns = [turn for turn in said if turn.role != "system"]

    def __len__(self) -> int:
        return len(self._turns)

    def put_into(self, prompt: Sequence[Message], kept: int) -> tuple[Message, ...]:
        """Return a prompt with the last `kept` turns before its last message.

        Instructions are added to the prompt's own. Roles alternate, as the templates of many models demand: an answer
        whose question was dropped goes too, and two turns of one role become one.
        """
        turns = self._turns[len(self._turns) - kept :]
        while turns and turns[0].role == "assistant":
            turns = turns[1:]
        if not turns and not self._instructions:
            return tuple(prompt)
        first, *middle, last = prompt
        instructed = Message(role=first.role, content="\n\n".join([first.content, *self._instructions]))
        return _alternating([instructed, *middle, *turns, last])


def _alternating(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(
        Message(role=role, content="\n\n".join(message.content for message in run))
        for role, run in groupby(messages, key=lambda message: message.role)
    )
