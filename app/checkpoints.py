"""The registry of checkpoints: folders `<name>@<version>/` with weights, a tokenizer and `checkpoint.json`.

It answers two questions: which checkpoints are there, and what does `--model` name.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import terminal
from app.errors import CheckpointDamaged, ModelNotFound
from app.schemas.checkpoint import CheckpointCard

ADAPTER_CONFIG = "adapter_config.json"
"""Beside an adapter as peft writes it."""
HUGGING_FACE_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint of the registry."""

    card: CheckpointCard
    folder: Path


@dataclass(frozen=True)
class Model:
    """What an engine loads, and the label under which it serves it."""

    label: str
    location: str
    """A folder, or a Hugging Face id."""

    @property
    def folder(self) -> Path | None:
        """The folder of the weights; None for a Hugging Face id."""
        path = Path(self.location)
        return path if path.is_dir() else None

    @property
    def adapter_base(self) -> str | None:
        """What the adapter in the folder was trained on; None where the folder holds a whole model."""
        config = self._adapter_config
        return None if config is None else str(config.get("base_model_name_or_path") or "")

    @property
    def lora_rank(self) -> int:
        """The rank of the adapter in the folder."""
        return int((self._adapter_config or {}).get("r") or 0)

    @property
    def _adapter_config(self) -> dict[str, Any] | None:
        path = Path(self.location) / ADAPTER_CONFIG
        return json.loads(path.read_bytes()) if path.is_file() else None


def list_checkpoints(registry: Path) -> tuple[Checkpoint, ...]:
    """Return the checkpoints under `registry`, in the order of their labels.

    A folder without `checkpoint.json` is one that is still being written, and is left out.

    Raises:
        CheckpointDamaged: A `checkpoint.json` cannot be read.
    """
    cards = sorted(registry.glob("[!.]*/checkpoint.json"))
    return tuple(Checkpoint(read_card(path), path.parent) for path in cards)


def read_card(path: Path) -> CheckpointCard:
    """Read a `checkpoint.json`.

    Raises:
        CheckpointDamaged: It is no valid card.
    """
    try:
        return CheckpointCard.model_validate_json(path.read_bytes())
    except (ValidationError, OSError) as error:
        raise CheckpointDamaged(f"{path} cannot be read: {error}. Delete {path.parent} and make it again.") from error


def resolve(model: str, registry: Path) -> Model:
    """Find what `--model` names: a label of the registry, else a folder, else a Hugging Face id.

    Raises:
        ModelNotFound: It is none of the three.
    """
    checkpoints = {checkpoint.card.label: checkpoint for checkpoint in list_checkpoints(registry)}
    if model in checkpoints:
        return Model(model, str(checkpoints[model].folder))
    if Path(model).exists():
        return _from_path(Path(model).absolute())
    if HUGGING_FACE_ID.fullmatch(model):
        return Model(model, model)
    known = ", ".join(checkpoints) or "none yet"
    raise ModelNotFound(
        f"There is no model {model!r}: no checkpoint has that label, no folder that path, and a Hugging Face id "
        f"reads owner/name.{terminal.did_you_mean(model, checkpoints)} Checkpoints: {known}."
    )


def _from_path(path: Path) -> Model:
    if not any((path / name).is_file() for name in ("config.json", ADAPTER_CONFIG)):
        raise ModelNotFound(f"{path} holds no model: a Hugging Face checkpoint is a folder with config.json.")
    card = path / "checkpoint.json"
    return Model(read_card(card).label if card.is_file() else path.name, str(path))
