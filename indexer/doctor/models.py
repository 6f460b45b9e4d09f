"""The embedding models that collections need to be searched."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from indexer.doctor.findings import Finding, Patient
from indexer.settings import PACKAGED_EMBEDDER


class ModelsAreThere:
    """The embedding model of every collection is where it was. It is not loaded for this."""

    name = "embedding models"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Look for the folders and packages of the models. A hub is not asked."""
        for state in patient.states.values():
            model = state.fingerprint.name
            if _is_gone(model):
                yield Finding(
                    "fail",
                    f"The embedding model {model} of {state.name!r} is gone: it cannot be searched by meaning.",
                    f"openbook rebuild --embed-only --collection {state.name} --embedder MODEL",
                )


def _is_gone(model: str) -> bool:
    if model == PACKAGED_EMBEDDER:
        return importlib.util.find_spec(PACKAGED_EMBEDDER.replace("-", "_")) is None
    return Path(model).is_absolute() and not Path(model).is_dir()
