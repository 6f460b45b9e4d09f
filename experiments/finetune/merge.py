"""The checkpoint that a training leaves: the adapter merged into the base, as an ordinary folder to be served.

Merged, because an engine that applies adapters at run time answers every request more slowly on a CPU, those of the
base as well. The folder appears under its name when it is whole, and not before.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from app.schemas.checkpoint import CheckpointCard
from experiments.finetune.errors import JobError


@contextmanager
def staged(checkpoint: Path) -> Iterator[Path]:
    """Give a folder to fill, which becomes `checkpoint` at the end; an exception or Ctrl-C leaves nothing.

    Raises:
        JobError: The registry's folder cannot be written to.
    """
    try:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{checkpoint.name}.", dir=checkpoint.parent))
    except OSError as error:
        raise JobError(f"Cannot write checkpoints to {checkpoint.parent}: {error.strerror}.") from error
    try:
        yield folder
        folder.chmod(0o755)
        folder.rename(checkpoint)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def save_merged(model: Any, tokenizer: Any, folder: Path) -> None:
    """Merge the adapter into the base's weights and write them with tokenizer, chat template and generation settings.

    Each weight W of a layer with an adapter becomes W + (alpha / rank) B A, rounded to bfloat16.
    """
    merged = model.merge_and_unload().to(torch.bfloat16)
    merged.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def weights_hash(folder: Path) -> str:
    """Return the SHA-256 over the folder's weights files, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def write_card(card: CheckpointCard, folder: Path) -> None:
    """Write `checkpoint.json`."""
    (folder / "checkpoint.json").write_text(f"{card.model_dump_json(indent=2)}\n", encoding="utf-8")
