"""A sentence-transformers model from the package, a local folder or the Hugging Face hub."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexer.errors import EmbedderError
from indexer.settings import PACKAGED_EMBEDDER


def load_model(name: str) -> Any:
    """Return the `SentenceTransformer` of that name, in float32 and ready to embed.

    Args:
        name: the packaged one, a local folder or a Hugging Face id.

    Raises:
        EmbedderError: there is no such model, or it cannot be loaded.
    """
    folder = _local_folder(name)
    try:
        with quiet():
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(str(folder or name), local_files_only=folder is not None).eval()
    except Exception as error:
        raise EmbedderError(
            f"The embedding model {name!r} cannot be loaded: {_first_line(error)} "
            f"Give a local folder, a Hugging Face id, or {PACKAGED_EMBEDDER!r}, which is installed with Openbook."
        ) from error


def _local_folder(name: str) -> Path | None:
    """Return the folder of the packaged model or of a local one, or None for a Hugging Face id."""
    if name == PACKAGED_EMBEDDER:
        package = importlib.util.find_spec(PACKAGED_EMBEDDER.replace("-", "_"))
        if package is None or not package.submodule_search_locations:
            raise EmbedderError(
                f"The package {PACKAGED_EMBEDDER!r} is not installed. Install it, or choose another model with "
                "--embedder."
            )
        return Path(package.submodule_search_locations[0]) / "model"
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or name.startswith((".", "~")):
        raise EmbedderError(f"There is no folder {name!r} to load an embedding model from.")
    return None


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries from drawing bars and printing advice while a model loads."""
    before = os.environ.get("HF_HUB_DISABLE_PROGRESS_BARS")
    # Read once, when the library is imported; not left behind for the processes that this one starts.
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for library in ("sentence_transformers", "transformers", "huggingface_hub"):
                logging.getLogger(library).setLevel(logging.ERROR)
            yield
    finally:
        if before is None:
            del os.environ["HF_HUB_DISABLE_PROGRESS_BARS"]
        else:
            os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = before


def _first_line(error: Exception) -> str:
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return line if line.endswith((".", "!", "?")) else f"{line}."
