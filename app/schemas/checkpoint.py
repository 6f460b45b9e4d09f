"""The card that lies beside every checkpoint."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from app.schemas.schema import Schema


class CheckpointCard(Schema):
    """`checkpoint.json`, beside the weights: what they are and where they come from."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    base: str | None = None
    """The checkpoint it was trained from, or the file it was made from."""
    recipe: str | None = None
    created: datetime
    weights_hash: str
    """SHA-256 of the weights file."""
    documents_hash: str | None = None
    """The documents whose facts it was trained on (see `corpus.schema.documents_hash`)."""
    training_hash: str | None = None
    """SHA-256 of the training rows."""
    training_seconds: float | None = None
    training_peak_bytes: int | None = None
    settings: dict[str, str | int | float | bool | None] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"


class CheckpointView(Schema):
    """A checkpoint of the registry as the API shows it."""

    label: str
    """`name@version`."""
    served: bool
    """Whether the server answers with it."""
    card: CheckpointCard | None
    """None where its `checkpoint.json` cannot be read, or where it is served from elsewhere."""
    problem: str | None = None
    """Why the card cannot be read."""


class CheckpointList(Schema):
    """`GET /v1/checkpoints`: those of the registry and those that are served, in the order of labels."""

    checkpoints: tuple[CheckpointView, ...]
