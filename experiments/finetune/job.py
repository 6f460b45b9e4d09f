"""A training job: which base learns which rows with which settings, and under which name the result is kept.

The job is a JSON file, so that training runs in a process of its own: the one that plans it never loads torch.
A checkpoint's version is computed from everything that decides its weights: the same job is the same checkpoint.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import Field, ValidationError

from app.schemas.prompt import Message
from app.schemas.schema import Schema
from experiments.finetune.errors import JobError

TRAINER = 1
"""Raised whenever the trainer would make other weights of the same job."""


class TrainingRow(Schema):
    """One thing to learn: after these messages, say this."""

    messages: tuple[Message, ...] = Field(min_length=1)
    completion: str = Field(min_length=1)
    """What the assistant says. Only these tokens and the end of the turn count in the loss."""


class TrainingSettings(Schema):
    """How a LoRA adapter is trained (Hu et al. 2021, arXiv 2106.09685)."""

    rank: int = Field(default=32, ge=1)
    """Rank of the update of every linear layer."""
    alpha: float = Field(default=64.0, gt=0)
    """The update is scaled by alpha / rank."""
    learning_rate: float = Field(default=1e-3, gt=0)
    """The highest one, reached after the warm-up; from there it falls to 0 on half a cosine."""
    epochs: int = Field(default=6, ge=1)
    batch_tokens: int = Field(default=256, ge=1)
    """Tokens in one step, a prefix that the rows share counted once. A longer row is a step of its own."""
    warmup_ratio: float = Field(default=0.05, ge=0, le=1)
    """Share of all steps over which the learning rate rises from 0."""
    weight_decay: float = Field(default=0.0, ge=0)
    clip_norm: float = Field(default=1.0, gt=0)
    """The gradient's norm is cut to this."""
    seed: int = 0
    """Decides the adapter's first weights and the order of the rows."""


class TrainingJob(Schema):
    """Everything that a training process needs to know."""

    base: str
    """Folder or Hugging Face id of the base checkpoint."""
    base_label: str
    """`name@version` of the base, as its card says, or again its id."""
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Name of the checkpoint to be made."""
    destination: Path
    """The registry's folder; the checkpoint becomes `<destination>/<name>@<version>/`."""
    rows: Path
    """A JSONL file of TrainingRow."""
    training_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the rows' file, as `rows.write_rows` returns it."""
    documents_hash: str | None = None
    """The documents whose facts the rows teach (see `corpus.schema.documents_hash`)."""
    recipe: str
    """What made the rows of the documents: a name of `recipes.RECIPES`."""
    settings: TrainingSettings = TrainingSettings()

    @property
    def version(self) -> str:
        """The first 12 hexadecimal digits of the hash over all that decides the weights; paths do not."""
        decisive = self.model_dump(mode="json", exclude={"base", "destination", "rows"})
        text = json.dumps({"trainer": TRAINER, **decisive}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def label(self) -> str:
        """`name@version` of the checkpoint to be made."""
        return f"{self.name}@{self.version}"

    @property
    def checkpoint(self) -> Path:
        """The folder of the finished checkpoint. It exists only when the training is done."""
        return self.destination / self.label


def read_job(path: Path) -> TrainingJob:
    """Read a job file.

    Raises:
        JobError: The file is missing or malformed; all its faults are named at once.
    """
    try:
        return TrainingJob.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise JobError(f"Cannot read the training job {path}: {error.strerror}.") from error
    except (ValidationError, UnicodeDecodeError) as error:
        raise JobError(f"The training job {path} is malformed: {describe(error)}") from error


def describe(error: ValidationError | UnicodeDecodeError) -> str:
    """Return every fault of a validation in one line: `settings.rank: Input should be …; name: Field required`."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    faults = []
    for fault in error.errors(include_url=False):
        place = ".".join(str(part) for part in fault["loc"])
        faults.append(f"{place}: {fault['msg']}" if place else fault["msg"])
    return "; ".join(faults)
