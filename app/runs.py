"""The runs of experiments as files: `results.json`, `report.html` and `report.md` of each.

How they come about is no business of the app, which therefore knows their names and hands their bytes on.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import terminal
from app.errors import ExperimentDamaged, ExperimentNotFound, ExperimentUnfinished
from app.schemas.experiment import ExperimentView

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
RESULTS = "results.json"


def list_runs(runs: Path) -> tuple[ExperimentView, ...]:
    """Return every run in a folder in the order of names, the damaged and the unfinished ones too."""
    return tuple(_view(runs, run_id) for run_id in _ids(runs))


def read_results(runs: Path, run_id: str) -> bytes:
    """Return the `results.json` of a run.

    Raises:
        ExperimentNotFound: There is no such run.
        ExperimentUnfinished: It has none yet.
        ExperimentDamaged: It cannot be read.
    """
    content = read_file(runs, run_id, RESULTS)
    _parsed(content, runs / run_id)
    return content


def read_file(runs: Path, run_id: str, name: str) -> bytes:
    """Return a file of a run. Raises as `read_results` does."""
    known = _ids(runs)
    if run_id not in known:
        hint = terminal.did_you_mean(run_id, known)
        raise ExperimentNotFound(f"There is no experiment {run_id!r}.{hint} `GET /v1/experiments` lists them.")
    try:
        return (runs / run_id / name).read_bytes()
    except FileNotFoundError as error:
        raise ExperimentUnfinished(
            f"The experiment {run_id!r} has no {name} yet. Run it again to go on with it."
        ) from error
    except OSError as error:
        raise ExperimentDamaged(f"{name} of the experiment {run_id!r} cannot be read: {error.strerror}.") from error


def _ids(runs: Path) -> list[str]:
    return sorted(path.parent.name for path in runs.glob("*/run.json") if RUN_ID.fullmatch(path.parent.name))


def _view(runs: Path, run_id: str) -> ExperimentView:
    try:
        results = _parsed(read_file(runs, run_id, RESULTS), runs / run_id)
        named = {name: results[name] for name in ("experiment", "created", "verdict") if name in results}
        return ExperimentView(id=run_id, status="finished", **named)
    except ExperimentUnfinished:
        return ExperimentView(id=run_id, status="unfinished")
    except ExperimentDamaged as error:
        return ExperimentView(id=run_id, status="damaged", problem=str(error))
    except ValidationError:
        return ExperimentView(id=run_id, status="damaged", problem=f"{RESULTS} does not hold what it should.")


def _parsed(content: bytes, folder: Path) -> dict[str, Any]:
    try:
        results = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ExperimentDamaged(
            f"{RESULTS} of the experiment {folder.name!r} is no JSON: {error}. `openbook report` writes it again."
        ) from error
    if not isinstance(results, dict):
        raise ExperimentDamaged(
            f"{RESULTS} of the experiment {folder.name!r} is no object. `openbook report` writes it again."
        )
    return results
