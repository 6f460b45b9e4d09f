"""The centres that vectors are listed under: spherical k-means.

FAISS has its own. NumPy multiplies matrices four times as fast here (its BLAS knows AVX-512), and finding the nearest
centres is nearly all of the work of building an index of lists.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from indexer.embedding.fingerprint import Vectors

ROUNDS = 8
"""Recall at equal cost no longer grows after that many."""
ROWS = 4096
"""Vectors compared with all centres at once: 32 MiB of products at 2,000 centres."""


def nearest(vectors: Vectors, centres: Vectors) -> npt.NDArray[np.int64]:
    """Return the position of the centre with the greatest inner product for each vector, shape (n,)."""
    found = np.empty(len(vectors), dtype=np.int64)
    for start in range(0, len(vectors), ROWS):
        found[start : start + ROWS] = (vectors[start : start + ROWS] @ centres.T).argmax(axis=1)
    return found


def cluster(sample: Vectors, count: int, random: np.random.Generator) -> Vectors:
    """Return `count` centres of unit length for a sample of at least as many vectors, shape (count, dimension)."""
    centres = sample[random.choice(len(sample), count, replace=False)]
    for _ in range(ROUNDS):
        owners = nearest(sample, centres)
        order = np.argsort(owners, kind="stable")
        owned, starts = np.unique(owners[order], return_index=True)
        # A centre that owns nothing begins anew at a vector of the sample.
        centres = sample[random.choice(len(sample), count, replace=False)]
        centres[owned] = np.add.reduceat(sample[order], starts, axis=0)
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    return np.ascontiguousarray(centres, dtype=np.float32)
