"""What must be true of a published index, and how much of it is checked when it is opened.

The whole of an exact index is summed each time (77 MB, 0.05 s at its greatest size): a wrong bit in it would be a wrong
score. An index of lists may have gigabytes. Of it the size is checked, the start with the centres and the lengths of
all lists, the end, and some blocks in between, others each time. A wrong bit elsewhere cannot make a wrong answer: a
candidate is measured by its vector in the store before it is returned, so the worst is that a neighbour is missed until
a later opening, or `openbook doctor`, which sums all blocks, finds it.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

BLOCK = 4 * 1024 * 1024
HEADER = 64 * 1024
"""More than what a file holds besides centres, lengths of lists and vectors."""
OTHER_BLOCKS = 8
OWN_SUM = "manifest_sha256"


@dataclass(frozen=True)
class Manifest:
    """What must be true of a published index."""

    generation: int
    revision: int
    """The revision of the collection that it was built from."""
    count: int
    last_id: int
    """The greatest id it holds, 0 where it holds none. Ids grow, so whatever it does not know is above."""
    dimension: int
    lists: int
    """The lists that its vectors lie in; 0 for an exact index."""
    probes: int | None
    """How many lists a search looks into; None for an exact index."""
    recall: float
    """The share of the 10 nearest that is found, measured on its own passages when it was built."""
    bytes: int
    sha256: tuple[str, ...]
    """Of each block of 4 MiB."""

    @property
    def kind(self) -> str:
        """The index in words."""
        if self.probes is None:
            return "exact vectors"
        return (
            f"{self.lists:,} lists of 8-bit vectors (IVF, SQ8), {self.probes:,} of them searched and refined: "
            f"recall@10 {self.recall:.3f} on its own passages"
        )

    def to_json(self) -> str:
        """Return the manifest as JSON, with a sum of itself."""
        fields = asdict(self)
        return json.dumps(fields | {OWN_SUM: _sum_of(fields)}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read what `to_json` wrote.

        Raises:
            ValueError, TypeError, AttributeError, KeyError: it is something else.
        """
        fields = json.loads(text)
        if fields.pop(OWN_SUM) != _sum_of(fields):
            raise ValueError("its own checksum does not agree with it")
        return cls(**fields | {"sha256": tuple(fields["sha256"])})


def _sum_of(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def sums(path: Path) -> tuple[str, ...]:
    """Return the SHA-256 of each block of a file."""
    with path.open("rb") as file:
        return tuple(hashlib.sha256(block).hexdigest() for block in iter(lambda: file.read(BLOCK), b""))


def check(path: Path, manifest: Manifest, *, whole: bool) -> None:
    """Raise `ValueError` where the file is not as its manifest says, as far as it is looked at.

    Args:
        path: the file of the index.
        manifest: what must be true of it.
        whole: look at all of it, even where it has lists.
    """
    if path.stat().st_size != manifest.bytes:
        raise ValueError(f"{path.name} has {path.stat().st_size} bytes instead of {manifest.bytes}")
    blocks: Sequence[int] = range(len(manifest.sha256))
    if len(blocks) != -(-manifest.bytes // BLOCK):
        raise ValueError(f"its manifest has {len(blocks)} sums for {manifest.bytes} bytes")
    if manifest.probes is not None and not whole:
        blocks = _some(blocks, manifest)
    with path.open("rb") as file:
        for number in blocks:
            file.seek(number * BLOCK)
            if hashlib.sha256(file.read(BLOCK)).hexdigest() != manifest.sha256[number]:
                raise ValueError(f"the checksum of {path.name} does not agree with its manifest (block {number})")


def _some(blocks: Sequence[int], manifest: Manifest) -> list[int]:
    """Return the blocks with what an index needs to be read at all, the last, and some of the others by chance."""
    start = -(-(HEADER + manifest.lists * (4 * manifest.dimension + 8)) // BLOCK)
    others = random.sample(blocks[start:], min(OTHER_BLOCKS, len(blocks[start:])))
    return sorted({*blocks[:start], *others, *blocks[-1:]})
