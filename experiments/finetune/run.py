"""One training job, from base and rows to a finished checkpoint."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.schemas.checkpoint import CheckpointCard
from experiments.finetune.encoding import EncodedRow, encode
from experiments.finetune.errors import JobError
from experiments.finetune.job import TrainingJob
from experiments.finetune.merge import save_merged, staged, weights_hash, write_card
from experiments.finetune.packing import plan
from experiments.finetune.rows import read_rows
from experiments.finetune.training import add_adapter, multiplying_dtype, prepare, train
from terminal import Progress, note


def run_job(job: TrainingJob) -> Path:
    """Train, merge and write the checkpoint; return its folder. One that is there already is left as it is.

    Raises:
        JobError: Rows, base or destination cannot be used.
        TrainingDiverged: The loss is no longer a number.
    """
    if job.checkpoint.exists():
        note(f"{job.label} is there already: the same job makes the same checkpoint.")
        return job.checkpoint
    started = time.monotonic()
    rows = read_rows(job.rows, job.training_hash)
    with staged(job.checkpoint) as folder:
        model, tokenizer = load_base(job.base, prepare(job.settings.seed))
        encoded = encode(rows, tokenizer, model.config.max_position_embeddings)
        model = add_adapter(model, job.settings)
        train_with_progress(model, encoded, job)
        save_merged(model, tokenizer, folder)
        write_card(_card(job, folder, time.monotonic() - started), folder)
    return job.checkpoint


def load_base(base: str, device: torch.device) -> tuple[Any, Any]:
    """Return the base's model in the type in which its layers multiply, and its tokenizer.

    Raises:
        JobError: It is neither a folder of a checkpoint nor a Hugging Face id that can be loaded.
    """
    transformers.utils.logging.disable_progress_bar()
    try:
        # SDPA takes the mask of a pack as it is; other attention kernels do not.
        model = AutoModelForCausalLM.from_pretrained(base, dtype=multiplying_dtype(device), attn_implementation="sdpa")
        tokenizer = AutoTokenizer.from_pretrained(base)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise JobError(
            f"Cannot load the base checkpoint {base}: {reason} Give a checkpoint's folder or a Hugging Face id."
        ) from error
    return model.to(device), tokenizer


def train_with_progress(model: Any, rows: Sequence[EncodedRow], job: TrainingJob) -> None:
    """Train on the rows while showing step, time left and loss."""
    settings = job.settings
    steps = plan(rows, settings.epochs, settings.batch_tokens, settings.seed)
    title = f"Fine-tuning {job.label} on {len(rows)} rows"
    with Progress(title, len(steps), "steps") as progress:
        for loss in train(model, steps, settings):
            progress.description = f"{title}, loss {loss:.3f}"
            progress.advance()


def _card(job: TrainingJob, folder: Path, seconds: float) -> CheckpointCard:
    return CheckpointCard(
        name=job.name,
        version=job.version,
        base=job.base_label,
        recipe=job.recipe,
        created=datetime.now(UTC),
        weights_hash=weights_hash(folder),
        documents_hash=job.documents_hash,
        training_hash=job.training_hash,
        training_seconds=round(seconds, 1),
        training_peak_bytes=peak_bytes(),
        settings=job.settings.model_dump(),
    )


def peak_bytes() -> int:
    """Return the most memory this process has held: of the GPU where one is used, of the machine otherwise."""
    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
