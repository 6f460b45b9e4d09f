"""The prompt with passages and worked examples: an open book for a small reader.

A small model that is only told to be brief answers in long sentences, often about the title of a passage. Shown a few
questions answered from two passages, one of them beside the point, it answers with the words it was asked for.
The examples come first and never change, so the engine computes them once and takes them from its prefix cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from app.prompting.passages import SYSTEM, show
from app.schemas.passage import Passage
from app.schemas.prompt import Message


@dataclass(frozen=True)
class Example:
    """A passage as title and text, a question that it answers, and the answer."""

    title: str
    text: str
    question: str
    answer: str


EXAMPLES = (
    Example(
        "The Old Mill of Brambleford",
        "The mill stands on the left bank. It was built by Edwin Harrow in 1764 and still grinds barley.",
        "Who was the builder of the Old Mill of Brambleford?",
        "Edwin Harrow",
    ),
    Example(
        "Ferry Notices",
        "The Heron sails at noon on weekdays. A ticket costs 12 pence, and children under six travel free of charge.",
        "How much must a passenger pay to sail on the Heron?",
        "12 pence",
    ),
    Example(
        "Annual Meeting",
        "The secretary thanked the cooks. The Garden Club was founded on 3 May 1871. Its badge is a yellow tulip.",
        "On which day did the Garden Club begin?",
        "3 May 1871",
    ),
    Example(
        "A Visit to the Museum",
        "The museum owns 214 paintings. Most people come to see the silver ship, which nobody may touch.",
        "How many paintings are in the museum?",
        "214",
    ),
    Example(
        "The Inn at Low Bridge",
        "Ask for Mrs Clara Penn, who keeps the inn. The cook is proud of the eel pie, and rightly so.",
        "Which dish is the inn known for?",
        "eel pie",
    ),
    Example(
        "Letter from Dunwick",
        "The town makes little but rope, and sells it everywhere. Captain Ines Calder sails with it twice a year.",
        "What is the town known for making?",
        "rope",
    ),
    Example(
        "Register of Ships",
        "The Swallow belongs to Dunwick. Her master is Captain Ines Calder. She carries coal and comes home with salt.",
        "Who commands the Swallow?",
        "Captain Ines Calder",
    ),
    Example(
        "Hill Walks",
        "The path to Cold Tor is steep. Its top lies 912 feet above the sea, and the view is worth the climb.",
        "How high is Cold Tor?",
        "912 feet",
    ),
)
STEP_TO_A_STRANGER = 3
"""Each example is shown beside the passage of the third one after it, which says nothing about its question."""


class BestFirst:
    """`worked_examples@1`: an instruction, the examples as a conversation, then passages and question."""

    name: ClassVar[str] = "worked_examples@1"

    def render(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        """Return the messages; the passages keep the order they are given in."""
        shown = [show(passage.label, passage.title, passage.text) for passage in passages]
        return (*STABLE, Message(role="user", content=_ask(shown, question)))


class BestLast:
    """`worked_examples@2`: the same, with the best passage right before the question.

    A small reader reads what is near: two passages answered 69 % of a world's questions in this order and 50 % best
    first, three 68 and 40 % (docs/LOG.md).
    """

    name: ClassVar[str] = "worked_examples@2"

    def render(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        """Return the messages; the passages, which are given best first, stand in reverse."""
        shown = [show(passage.label, passage.title, passage.text) for passage in reversed(passages)]
        return (*STABLE, Message(role="user", content=_ask(shown, question)))


def _ask(passages: Sequence[str], question: str) -> str:
    book = "\n\n".join(passages)
    return f"{book}\n\nQuestion: {question}\nAnswer:"


def _conversation(number: int) -> tuple[Message, Message]:
    example, stranger = EXAMPLES[number], EXAMPLES[(number + STEP_TO_A_STRANGER) % len(EXAMPLES)]
    # The right passage comes first in every other example, so that its place says nothing.
    pair = (example, stranger) if number % 2 == 0 else (stranger, example)
    shown = [show(label, passage.title, passage.text) for label, passage in enumerate(pair, 1)]
    return (
        Message(role="user", content=_ask(shown, example.question)),
        Message(role="assistant", content=example.answer),
    )


STABLE = (
    Message(role="system", content=SYSTEM),
    *(message for number in range(len(EXAMPLES)) for message in _conversation(number)),
)
