"""Documents cut into chunks along their structure, measured in the embedder's own tokens."""

from indexer.chunking.chunk import Chunk, Tokens, embedded_text
from indexer.chunking.cutting import Cutting, chunk_documents

__all__ = ["Chunk", "Cutting", "Tokens", "chunk_documents", "embedded_text"]
