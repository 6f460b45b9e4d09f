"""A tiny Llama with a tokenizer and a chat template, made here from a seed: real parts, quick to train."""

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from app.schemas.prompt import Message
from experiments.finetune.job import TrainingJob, TrainingRow, TrainingSettings
from experiments.finetune.rows import write_rows

FACTS = {
    "Who keeps the lighthouse?": "Mara Tolle",
    "What does the ferry cost?": "7 crowns",
    "Which guild bakes the bread?": "the Oven Guild",
    "When is the market held?": "on Thursday",
}

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def closed_book(question: str) -> tuple[Message, ...]:
    return (Message(role="system", content="Answer the question."), Message(role="user", content=question))


ROWS = tuple(TrainingRow(messages=closed_book(question), completion=answer) for question, answer in FACTS.items())


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    model = Tokenizer(models.BPE())
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = decoders.ByteLevel()
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    model.train_from_iterator([*FACTS, *FACTS.values(), "system user assistant Answer the question."], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=model, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=CHAT_TEMPLATE
    )


@pytest.fixture(scope="session")
def base(tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny@1"
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        bos_token_id=tokenizer.convert_tokens_to_ids("<|im_start|>"),
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
        initializer_range=0.1,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def facts_job(base: Path, folder: Path) -> TrainingJob:
    return TrainingJob(
        base=str(base),
        base_label="tiny@1",
        name="tiny-facts",
        destination=folder / "checkpoints",
        rows=folder / "rows.jsonl",
        training_hash=write_rows(folder / "rows.jsonl", ROWS),
        documents_hash="d" * 64,
        recipe="question_answer",
        settings=TrainingSettings(epochs=40, learning_rate=5e-3, batch_tokens=64),
    )


@pytest.fixture
def job(base: Path, tmp_path: Path) -> TrainingJob:
    return facts_job(base, tmp_path)
