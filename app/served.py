"""What an engine serves, as this machine knows it: its tokenizer for writing prompts, and the hash of its weights."""

from __future__ import annotations

from pathlib import Path

from app.checkpoints import read_card
from app.engine import ServedModel
from app.prompting.assemble import Assembler
from app.prompting.tokens import TokenCounter


def assembler_for(model: ServedModel, max_model_len: int, system_role: bool = True) -> Assembler:
    """Return what writes the prompts for a served model, with its own tokenizer where its files are on this machine."""
    return Assembler(TokenCounter(_folder(model)), model.max_model_len or max_model_len, system_role)


def weights_hash_of(model: ServedModel) -> str | None:
    """Return the SHA-256 of a served model's weights, where its card is on this machine.

    Raises:
        CheckpointDamaged: The card cannot be read.
    """
    folder = _folder(model)
    card = folder / "checkpoint.json" if folder else None
    return read_card(card).weights_hash if card and card.is_file() else None


def _folder(model: ServedModel) -> Path | None:
    return Path(model.root) if model.root and Path(model.root).is_dir() else None
