"""Training rows as tokens: exactly those that the engine sees for the same messages, then the answer to be learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiments.finetune.errors import JobError
from experiments.finetune.job import TrainingRow


@dataclass(frozen=True)
class EncodedRow:
    """A row in token ids."""

    prompt: tuple[int, ...]
    """The messages through the chat template, with its opening of the assistant's turn."""
    completion: tuple[int, ...]
    """The answer and the end of the turn: the labels."""

    @property
    def inputs(self) -> tuple[int, ...]:
        """What the model reads: all but the last token, which is only ever predicted."""
        return self.prompt + self.completion[:-1]


def encode(rows: Sequence[TrainingRow], tokenizer: Any, context: int) -> tuple[EncodedRow, ...]:
    """Encode rows with the checkpoint's own tokenizer and chat template.

    The answer is encoded on its own, because a served model writes it on its own after the finished prompt.

    Args:
        rows: The rows.
        tokenizer: A transformers tokenizer.
        context: The longest sequence that the model can take, in tokens.

    Raises:
        JobError: There is no chat template or no end-of-turn token, or a row does not fit into the context.
    """
    if not tokenizer.chat_template or tokenizer.eos_token_id is None:
        raise JobError(
            f"The base checkpoint {tokenizer.name_or_path} has no chat template or no end-of-sequence token, and it is "
            "served as a chat model. Use an instruction-tuned checkpoint."
        )
    return tuple(_encode_row(number, row, tokenizer, context) for number, row in enumerate(rows, 1))


def _encode_row(number: int, row: TrainingRow, tokenizer: Any, context: int) -> EncodedRow:
    messages = [message.model_dump() for message in row.messages]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    prompt = tokenizer(text, add_special_tokens=False)["input_ids"]
    completion = tokenizer(row.completion, add_special_tokens=False)["input_ids"]
    encoded = EncodedRow(tuple(prompt), (*completion, tokenizer.eos_token_id))
    if len(encoded.inputs) > context:
        raise JobError(f"Training row {number} has {len(encoded.inputs)} tokens, the model takes at most {context}.")
    return encoded
