"""From a question and its passages to the final prompt: what is shown how, and how much fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.errors import PromptTooLong
from app.prompting.chat_template import without_system
from app.prompting.conversation import Conversation
from app.prompting.frame import Frame, one_line
from app.prompting.template import Template
from app.prompting.tokens import TokenCounter
from app.schemas.passage import DroppedPassage, Passage
from app.schemas.prompt import Message, Prompt


@dataclass(frozen=True)
class Assembler:
    """Writes prompts for one served model."""

    counter: TokenCounter
    max_model_len: int
    """Tokens of prompt and answer together."""
    system_role: bool = True
    """Off, the instruction goes into the first user turn, as for a model whose template shows no system message."""

    def assemble(
        self,
        template: Template,
        question: str,
        passages: Sequence[Passage],
        max_tokens: int,
        history: Sequence[Message] = (),
    ) -> Prompt:
        """Write the prompt with as much as fits, leaving room for `max_tokens` of answer.

        The oldest turns of the conversation go first, then the last passages; the question is never cut. No text but
        the template's own can become a control token or part of the frame.

        Raises:
            PromptTooLong: It does not fit even with one passage, or without any where none was given.
        """
        quoted_question = template.frame.quote(question)
        quoted = [_quoted(passage, template.frame) for passage in passages]
        conversation = Conversation(history, template.frame.quote, self.counter.special_tokens.neutralise)
        for turns, kept in _less_and_less(len(conversation), len(passages)):
            messages = self._messages(conversation, template.render(quoted_question, quoted[:kept]), turns)
            if self.counter.fits(messages, self.max_model_len - max_tokens):
                return Prompt(
                    messages=messages,
                    prompt=template.name,
                    prompt_hash=template.hash,
                    passages=tuple(passages[:kept]),
                    dropped_passages=tuple(_dropped(passage) for passage in passages[kept:]),
                    dropped_turns=len(conversation) - turns,
                )
        raise PromptTooLong(
            f"The question{' and its first passage' if passages else ''} with {max_tokens} tokens of answer exceed the "
            f"model's {self.max_model_len} tokens. Shorten the question or lower decoding.max_tokens, name the prompt "
            "'passages', which is shorter, or serve with a larger --max-model-len."
        )

    def _messages(self, conversation: Conversation, prompt: Sequence[Message], turns: int) -> tuple[Message, ...]:
        *fixed, last = prompt
        # The last message as a whole: two harmless pieces could make a control token where they meet.
        safe = Message(role=last.role, content=self.counter.special_tokens.neutralise(last.content))
        messages = conversation.put_into([*fixed, safe], turns)
        takes_system = self.system_role and self.counter.takes_system
        return messages if takes_system else without_system(messages)


def _less_and_less(turns: int, passages: int) -> Iterator[tuple[int, int]]:
    """Yield how many turns and how many passages to try, from everything down to the least."""
    yield from ((kept, passages) for kept in range(turns, -1, -1))
    yield from ((0, kept) for kept in range(passages - 1, min(passages, 1) - 1, -1))


def _dropped(passage: Passage) -> DroppedPassage:
    return DroppedPassage(id=passage.id, document_id=passage.document_id, score=passage.score)


def _quoted(passage: Passage, frame: Frame) -> Passage:
    """Return a passage as a prompt shows it: rows of a table below the table's header, and nothing like the frame."""
    text = f"{passage.context}\n{passage.text}" if passage.context else passage.text
    return passage.model_copy(update={"title": one_line(passage.title), "text": frame.quote(text)})
