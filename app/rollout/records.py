"""What rollouts leave in `$OPENBOOK_HOME`: a record of each, and which version serves in the place of which.

rollouts/<id>.json   the record, from which a comparison charges the update to fine-tuning
promotions.json      configured default → what is served in its place, so that it survives a restart
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import Field, ValidationError

from app.errors import RolloutNotFound, RolloutRefused
from app.schemas.rollout import Rollout
from app.schemas.schema import Schema
from corpus.durability import sync

INTERRUPTED = "The server ended before it was done. What answered before is served again."


class Promotion(Schema):
    """What was promoted over a configured default."""

    serving: str
    previous: str
    """What `rollback` goes back to."""
    retired: bool
    """Whether the configured default is no longer served beside it."""


class Promotions(Schema):
    """`promotions.json`."""

    promotions: dict[str, Promotion] = Field(default_factory=dict)


class Records:
    """The files of one home."""

    def __init__(self, home: Path) -> None:
        """Take `$OPENBOOK_HOME`."""
        self._rollouts = home / "rollouts"
        self._promotions = home / "promotions.json"

    def write(self, rollout: Rollout) -> None:
        """Keep a record, in place of the one of the same id."""
        _replace(self._rollouts / f"{rollout.id}.json", rollout)

    def read(self, rollout_id: str) -> Rollout:
        """Return a record.

        Raises:
            RolloutNotFound: There is none of that id.
        """
        found = next((each for each in self.all() if each.id == rollout_id), None)
        if found is None:
            raise RolloutNotFound(f"There is no rollout {rollout_id!r}. GET /v1/rollouts lists them.")
        return found

    def all(self) -> tuple[Rollout, ...]:
        """Return every record that can be read, the latest first."""
        found = [_read(path) for path in self._rollouts.glob("*.json")]
        return tuple(sorted((each for each in found if each), key=lambda each: each.started, reverse=True))

    def close_interrupted(self) -> None:
        """Mark as failed what was running when a server was killed."""
        for rollout in self.all():
            if rollout.status == "running":
                self.write(rollout.model_copy(update={"status": "failed", "detail": INTERRUPTED}))

    def promotion(self, configured: str) -> Promotion | None:
        """Return what was promoted over a configured default.

        Raises:
            RolloutRefused: `promotions.json` cannot be read.
        """
        return self._read_promotions().promotions.get(configured)

    def promote(self, configured: str, promotion: Promotion) -> None:
        """Remember it. Raises as `promotion` does."""
        known = self._read_promotions().promotions
        _replace(self._promotions, Promotions(promotions={**known, configured: promotion}))

    def _read_promotions(self) -> Promotions:
        try:
            return Promotions.model_validate_json(self._promotions.read_bytes())
        except FileNotFoundError:
            return Promotions()
        except (ValidationError, OSError) as error:
            raise RolloutRefused(
                f"{self._promotions} cannot be read: {error}. Remove it to serve what --model names."
            ) from error


def _read(path: Path) -> Rollout | None:
    try:
        return Rollout.model_validate_json(path.read_bytes())
    except (ValidationError, OSError):
        return None


def _replace(path: Path, value: Schema) -> None:
    """Write a file so that a reader finds the old one or the new one, also after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as output:
        output.write(value.model_dump_json(indent=2) + "\n")
        output.flush()
        os.fsync(output.fileno())
    partial.replace(path)
    sync(path.parent)
