"""`python -m experiments.finetune JOB.json`: run one training job and print the checkpoint's folder.

Exit codes: 0 done, 1 the training diverged, 2 the job cannot be run as it is, 130 interrupted. In every case but the
first no checkpoint is left.
"""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType

import click

import terminal
from experiments.finetune.job import read_job


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("job", type=click.Path(path_type=Path))
def finetune(job: Path) -> None:
    """Train, merge and keep the checkpoint that JOB (a file in JSON) describes."""
    planned = read_job(job)
    terminal.note(f"Loading {planned.base_label}")
    from experiments.finetune.run import run_job

    click.echo(run_job(planned))


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    # A supervisor's SIGTERM tidies up just as Ctrl-C does.
    signal.signal(signal.SIGTERM, _interrupt)
    terminal.run(finetune)
