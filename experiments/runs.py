"""The runs that there are: finding one by name, and listing them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from experiments.errors import RunNotFound
from experiments.results import Results
from experiments.run_folder import RunFolder
from terminal import did_you_mean


@dataclass(frozen=True)
class RunSummary:
    """A run as a list shows it."""

    name: str
    created: str | None
    """When its last answer arrived; None for one that is not finished."""
    verdict: str


def find_run(name: str, runs: Path) -> RunFolder:
    """Return a run by its folder's path or name, or by its experiment's name: then the latest one.

    Raises:
        RunNotFound: There is none.
    """
    for folder in (Path(name), runs / name):
        if (folder / "run.json").is_file():
            return RunFolder(folder)
    found = _run_folders(runs)
    ours = [folder for folder in found if folder.name.rpartition("-")[0] == name]
    if ours:
        return RunFolder(max(ours, key=lambda folder: (folder / "run.json").stat().st_mtime_ns))
    known = sorted({folder.name.rpartition("-")[0] for folder in found})
    listed = (
        f"Runs: {', '.join(known)}." if known else "There are no runs yet: `openbook experiment run demo` makes one."
    )
    raise RunNotFound(f"There is no run {name!r} in {runs}.{did_you_mean(name, known)} {listed}")


def list_runs(runs: Path) -> tuple[RunSummary, ...]:
    """Return every run below a folder, in the order of names."""
    return tuple(_summary(folder) for folder in _run_folders(runs))


def _run_folders(runs: Path) -> list[Path]:
    return sorted(path.parent for path in runs.glob("*/run.json"))


def _summary(folder: Path) -> RunSummary:
    try:
        results = Results.model_validate_json((folder / "results.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return RunSummary(folder.name, None, "Not finished; run it again to continue.")
    except (ValidationError, UnicodeDecodeError):
        return RunSummary(folder.name, None, "Its results.json cannot be read; `openbook report` writes it again.")
    return RunSummary(folder.name, results.created, results.verdict)
