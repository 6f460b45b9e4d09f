"""The training loop: a LoRA adapter over a frozen base, one pack of rows for each step.

Plain on purpose. Against a general trainer it leaves out what costs time on a CPU: padding, recomputing activations,
and scoring the whole vocabulary at positions that have no label. The base is frozen in bfloat16, or in float32 on a CPU
without units for bfloat16; the adapter and its optimizer are float32, because small updates vanish in bfloat16.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from peft import LoraConfig, get_peft_model

from corpus.processor import has_bfloat16_units
from experiments.finetune.encoding import EncodedRow
from experiments.finetune.errors import TrainingDiverged
from experiments.finetune.job import TrainingSettings
from experiments.finetune.packing import Pack, pack


def prepare(seed: int) -> torch.device:
    """Seed everything, use every core the process may use, and return the device to train on."""
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def multiplying_dtype(device: torch.device) -> torch.dtype:
    """Return in what the layers multiply: bfloat16 where the device has units for it, otherwise float32."""
    return torch.bfloat16 if device.type != "cpu" or has_bfloat16_units() else torch.float32


def add_adapter(model: Any, settings: TrainingSettings) -> Any:
    """Freeze a causal language model and put an adapter on every linear layer but the head."""
    config = LoraConfig(
        r=settings.rank, lora_alpha=settings.alpha, target_modules="all-linear", task_type="CAUSAL_LM", bias="none"
    )
    return get_peft_model(model, config)


def answer_loss(model: Any, batch: Pack) -> torch.Tensor:
    """Return the mean cross-entropy in nats over the answers' tokens, a scalar.

    Only the hidden states that predict a label go through the head: of 25 tokens in a row about 5.
    """
    output = model(
        input_ids=batch.tokens,
        position_ids=batch.positions,
        attention_mask=batch.visible,
        logits_to_keep=batch.labelled,
        use_cache=False,
    )
    return torch.nn.functional.cross_entropy(output.logits[0].float(), batch.labels)


def learning_rate(step: int, steps: int, settings: TrainingSettings) -> float:
    """Return the learning rate of a step, counted from 0: a linear rise, then half a cosine down to 0."""
    warmup = settings.warmup_ratio * steps
    if step < warmup:
        return settings.learning_rate * (step + 1) / (math.floor(warmup) + 1)
    return settings.learning_rate * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def train(model: Any, steps: Sequence[Sequence[EncodedRow]], settings: TrainingSettings) -> Iterator[float]:
    """Train the adapter of `model` in place; yield the loss of each step, in nats, after it was taken.

    Raises:
        TrainingDiverged: The loss of a step is infinite or not a number.
    """
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    device = weights[0].device
    dtype = multiplying_dtype(device)
    optimizer = torch.optim.AdamW(weights, weight_decay=settings.weight_decay, fused=True)
    model.train()
    for number, rows in enumerate(steps):
        rate = learning_rate(number, len(steps), settings)
        for group in optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
            loss = answer_loss(model, pack(rows).to(device))
        value = loss.item()
        if not math.isfinite(value):
            raise TrainingDiverged(
                f"The loss of step {number + 1} of {len(steps)} is {value}, at a learning rate of {rate:.2g}. Nothing "
                f"was kept. Try a lower learning_rate than {settings.learning_rate:g}."
            )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, settings.clip_norm)
        optimizer.step()
        optimizer.zero_grad()
        yield value
