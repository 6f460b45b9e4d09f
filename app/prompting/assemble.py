"""From a question and its passages to the final prompt: which template, and how many passages fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import terminal
from app.errors import PromptNotFound, PromptTooLong
from app.prompting import PROMPTS, PromptTemplate
from app.prompting.tokens import TokenCounter
from app.schemas import Passage, Prompt


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

    def assemble(self, template: PromptTemplate, question: str, passages: Sequence[Passage], max_tokens: int) -> Prompt:
        """Write the prompt with as many passages as fit, best first, leaving room for `max_tokens` of answer.

        Raises:
            PromptTooLong: It does not fit even with one passage, or without any where none was given.
        """
        neutralise = self.counter.special_tokens.neutralise
        safe_question = neutralise(question)
        safe_passages = [
            passage.model_copy(update={"title": neutralise(passage.title), "text": neutralise(passage.text)})
            for passage in passages
        ]
        for kept in range(len(passages), min(len(passages), 1) - 1, -1):
            messages = template.render(safe_question, safe_passages[:kept])
            if self.counter.fits(messages, self.max_model_len - max_tokens):
                return Prompt(
                    messages=messages,
                    prompt=template.name,
                    passages=tuple(passages[:kept]),
                    dropped_passages=len(passages) - kept,
                )
        raise PromptTooLong(
            f"The question{' and its first passage' if passages else ''} with {max_tokens} tokens of answer exceed the "
            f"model's {self.max_model_len} tokens. Shorten the question or lower decoding.max_tokens, name the prompt "
            "'passages', which is shorter, or serve with a larger --max-model-len."
        )
