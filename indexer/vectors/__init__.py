"""The door to FAISS: vector indexes by size, and their published form on disk."""

from indexer.vectors.building import build_exact, build_from, can_grow, grow
from indexer.vectors.generations import (
    INDEX,
    MANIFEST,
    drop_old_generations,
    drop_unpublished,
    generation_folder,
    generation_numbers,
    next_generation,
    quarantine,
    read_generation,
    read_manifest,
    write_generation,
)
from indexer.vectors.index import Stored, VectorIndex
from indexer.vectors.manifest import Manifest

__all__ = [
    "INDEX",
    "MANIFEST",
    "Manifest",
    "Stored",
    "VectorIndex",
    "build_exact",
    "build_from",
    "can_grow",
    "drop_old_generations",
    "drop_unpublished",
    "generation_folder",
    "generation_numbers",
    "grow",
    "next_generation",
    "quarantine",
    "read_generation",
    "read_manifest",
    "write_generation",
]
