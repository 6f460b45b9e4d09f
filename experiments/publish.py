"""From answers to report: score, compare, summarise, render. Pure, so it can be done again at any time."""

from __future__ import annotations

from experiments.results import Results
from experiments.run_data import score_run
from experiments.run_folder import RunFolder, replace
from experiments.summarise import summarise


def publish(folder: RunFolder) -> Results:
    """Write scores.jsonl, results.json, report.html and report.md of a run; return the results.

    Raises:
        RunDamaged: An artefact of the run is missing or malformed.
    """
    from experiments.report.write import write_report

    results = summarise(score_run(folder))
    replace(folder.results, f"{results.model_dump_json(indent=2)}\n")
    write_report(folder.path)
    return results
