"""What tells one embedding model from another: its sizes, its prefixes and the vectors it gives to fixed probe texts.

The vectors themselves are kept, not a hash of them: two processors round differently, and a hash of rounded numbers
would refuse the same model on another machine.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""Rows of unit length, shape (texts, dimension)."""

PROBE_TEXTS = (
    "The harbour master keeps the tide tables.",
    "Ωμέγα, кассовый разрыв, 床前明月光",
    "4417",
)
SAME_MODEL_COSINE = 0.99
"""The least cosine between probe vectors of one model: bfloat16 against float32 stays above 0.996."""


@dataclass(frozen=True)
class Fingerprint:
    """The identity of an embedding model."""

    name: str
    """What it was loaded from. Informative: the same weights under another name are the same model."""
    dimension: int
    max_tokens: int
    """The longest text that it reads, in tokens, special ones included."""
    query_prefix: str
    passage_prefix: str
    probes: bytes
    """The vectors of `PROBE_TEXTS`, float32, row by row."""

    def difference(self, other: Fingerprint) -> str | None:
        """Say how `other` differs as a model, or return None where it is the same."""
        for what in ("dimension", "max_tokens", "query_prefix", "passage_prefix"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                return f"{what.replace('_', ' ')} {theirs!r} instead of {mine!r}"
        cosine = float(np.min(np.sum(self._probe_vectors() * other._probe_vectors(), axis=1)))
        if cosine < SAME_MODEL_COSINE:
            return f"other weights: the vectors of the probe texts agree with a cosine of only {cosine:.2f}"
        return None

    def to_json(self) -> str:
        """Return the fingerprint as JSON."""
        return json.dumps({**self.__dict__, "probes": base64.b64encode(self.probes).decode()}, ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> Fingerprint:
        """Read what `to_json` wrote. Each search looks at it twice, and it hardly ever changes: it is parsed once."""
        return _parsed(text)

    def _probe_vectors(self) -> Vectors:
        return np.frombuffer(self.probes, dtype=np.float32).reshape(len(PROBE_TEXTS), self.dimension)


@lru_cache(maxsize=64)
def _parsed(text: str) -> Fingerprint:
    fields = json.loads(text)
    return Fingerprint(**{**fields, "probes": base64.b64decode(fields["probes"])})
