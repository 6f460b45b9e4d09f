"""From a question and its passages to the final prompt: which template, and how many passages fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import terminal
from app.errors import PromptNotFound, PromptTooLong
from app.prompting import PROMPTS, PromptTemplate
from app.prompting.conversation import Conversation
from app.prompting.tokens import TokenCounter
from app.schemas.passage import DroppedPassage, Passage
from app.schemas.prompt import Message, Prompt


def find_prompt(name: str) -> PromptTemplate:
    """Return the prompt of that name, with or without its version.

    Raises:
        PromptNotFound: There is no such prompt.
    """
    latest = {key.partition("@")[0]: template for key, template in PROMPTS.items()}
    template = PROMPTS.get(name) or latest.get(name)
    if template is None:
        hint = terminal.did_you_mean(name, [*PROMPTS, *latest])
        raise PromptNotFound(f"There is no prompt {name!r}.{hint} Prompts: {', '.join(PROMPTS)}.")
    return template


@dataclass(frozen=True)
class Assembler:
    """Writes prompts for one served model."""

    counter: TokenCounter
    max_model_len: int
    """Tokens of prompt and answer together."""

    def assemble(
        self,
        template: PromptTemplate,
        question: str,
        passages: Sequence[Passage],
        max_tokens: int,
        history: Sequence[Message] = (),
    ) -> Prompt:
        """Write the prompt with as much as fits, leaving room for `max_tokens` of answer.

        The oldest turns of the conversation go first, then the last passages; the question is never cut.

        Raises:
            PromptTooLong: It does not fit even with one passage, or without any where none was given.
        """
        neutralise = self.counter.special_tokens.neutralise
        safe_question = neutralise(question)
        safe_passages = [
            passage.model_copy(update={"title": neutralise(passage.title), "text": neutralise(_shown(passage))})
            for passage in passages
        ]
        conversation = Conversation(history, neutralise)
        for turns, kept in _less_and_less(len(conversation), len(passages)):
            messages = conversation.put_into(template.render(safe_question, safe_passages[:kept]), turns)
            if self.counter.fits(messages, self.max_model_len - max_tokens):
                return Prompt(
                    messages=messages,
                    prompt=template.name,
                    passages=tuple(passages[:kept]),
                    dropped_passages=tuple(_dropped(passage) for passage in passages[kept:]),
                    dropped_turns=len(conversation) - turns,
                )
        raise PromptTooLong(
            f"The question{' and its first passage' if passages else ''} with {max_tokens} tokens of answer exceed the "
            f"model's {self.max_model_len} tokens. Shorten the question or lower decoding.max_tokens, name the prompt "
            "'passages', which is shorter, or serve with a larger --max-model-len."
        )


def _less_and_less(turns: int, passages: int) -> Iterator[tuple[int, int]]:
    """Yield how many turns and how many passages to try, from everything down to the least."""
    yield from ((kept, passages) for kept in range(turns, -1, -1))
    yield from ((0, kept) for kept in range(passages - 1, min(passages, 1) - 1, -1))


def _dropped(passage: Passage) -> DroppedPassage:
    return DroppedPassage(id=passage.id, document_id=passage.document_id, score=passage.score)


def _shown(passage: Passage) -> str:
    """Return the text of a passage as a prompt shows it: rows of a table below the table's header."""
    return f"{passage.context}\n{passage.text}" if passage.context else passage.text
