"""The door to sentence-transformers: texts in, unit vectors out."""

from indexer.embedding.embedder import Embedder, Reading

__all__ = ["Embedder", "Reading"]
