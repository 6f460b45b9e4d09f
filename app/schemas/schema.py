"""What every value of the REST contract has in common.

Every request model forbids unknown fields: a misspelt option is an error, never silently ignored, and nothing that a
client sends can reach the engine's chat template.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Schema(BaseModel):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
