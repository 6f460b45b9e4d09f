"""Earlier turns of a conversation, between the fixed start of a prompt and its question.

They come behind what every prompt begins with, so that the engine still finds that in its prefix cache.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from app.citations import MARKER
from app.schemas.prompt import Message

MARKER_WITH_SPACE = re.compile(rf"[ \t]*{MARKER.pattern}")


class Conversation:
    """What was said before a question."""

    def __init__(
        self, history: Sequence[Message], quote: Callable[[str], str], neutralise: Callable[[str], str]
    ) -> None:
        """Take the turns in order, what quotes lines like the frame's, and what makes text of control tokens.

        Turns without text are left out, and so are the markers of earlier answers: they named other passages.
        """
        said = [turn for turn in history if turn.content.strip()]
        self._instructions = [neutralise(turn.content) for turn in said if turn.role == "system"]
        self._turns = [_plain(turn, quote, neutralise) for turn in said if turn.role != "system"]

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


def _plain(turn: Message, quote: Callable[[str], str], neutralise: Callable[[str], str]) -> Message:
    unmarked = MARKER_WITH_SPACE.sub("", turn.content) if turn.role == "assistant" else turn.content
    return Message(role=turn.role, content=neutralise(quote(unmarked)))


def _alternating(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(
        Message(role=role, content="\n\n".join(message.content for message in run))
        for role, run in groupby(messages, key=lambda message: message.role)
    )
