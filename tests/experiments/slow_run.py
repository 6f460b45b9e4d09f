"""A run that takes its time, to be killed: `python -m tests.experiments.slow_run SPEC RUNS`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import terminal
from experiments.start import run_experiment
from tests.experiments.small_openbook import SmallOpenbook


@click.command()
@click.argument("spec")
@click.argument("runs", type=click.Path(path_type=Path))
def slow_run(spec: str, runs: Path) -> None:
    openbook = SmallOpenbook()
    openbook.seconds = 0.05
    run_experiment(spec, runs, commands=openbook)


if __name__ == "__main__":
    terminal.run(slow_run)
    sys.exit(0)
