"""The commands `openbook experiment`, `finetune`, `report` and `corpus`: options and printing, nothing else.

Heavy modules are imported inside the commands, so that `--help` starts at once.
"""

from __future__ import annotations

from pathlib import Path

import click

from experiments.corpus_command import corpus

__all__ = ["corpus", "experiment", "finetune", "report"]

RUNS = click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the runs; $OPENBOOK_HOME/runs by default.",
)


@click.group()
def experiment() -> None:
    """Run experiments, and list them."""


@experiment.command("run")
@click.argument("spec")
@click.option("--engine-url", metavar="URL", help="Ask this OpenAI-compatible server; only for arms of the base.")
@click.option("--fresh", is_flag=True, help="Begin anew instead of going on where the last run stopped.")
@click.option("--json", "as_json", is_flag=True, help="Print results.json instead of the table.")
@RUNS
def run_command(spec: str, engine_url: str | None, fresh: bool, as_json: bool, runs: Path | None) -> None:
    """Run the experiment SPEC, a YAML file or the name of a shipped one such as `demo`.

    It can be stopped with Ctrl-C at any moment; the same command goes on where it was.
    """
    from corpus.home import runs_home
    from experiments.start import run_experiment
    from experiments.table import verdict_table

    finished = run_experiment(spec, runs or runs_home(), engine_url, fresh)
    if as_json:
        click.echo(finished.results.model_dump_json(indent=2))
    else:
        click.echo(verdict_table(finished.results))
        click.echo(f"Report: {finished.folder.path / 'report.html'}")
    failed = [gate.name for gate in finished.results.gates if not gate.passed]
    if failed:
        raise click.exceptions.Exit(1)


@experiment.command("list")
@RUNS
def list_command(runs: Path | None) -> None:
    """List the shipped experiments and the runs that there are."""
    from corpus.home import runs_home
    from experiments.runs import list_runs
    from experiments.spec_file import shipped_specs

    folder = runs or runs_home()
    for name, path in shipped_specs().items():
        click.echo(f"shipped  {name}  {path}")
    for summary in list_runs(folder):
        click.echo(f"run      {summary.name}  {summary.created or 'unfinished'}  {summary.verdict}")


@click.command()
@click.argument("spec")
@RUNS
def finetune(spec: str, runs: Path | None) -> None:
    """Train the fine-tuned checkpoint of the experiment SPEC, without asking its questions.

    A later `openbook experiment run SPEC` uses it.
    """
    from corpus.home import checkpoints_home, runs_home
    from experiments.start import finetune_experiment

    card = finetune_experiment(spec, runs or runs_home())
    click.echo(f"{card.label}  {checkpoints_home() / card.label}")


@click.command()
@click.argument("run")
@RUNS
def report(run: str, runs: Path | None) -> None:
    """Score the finished RUN again and write its report: a run's folder, or its name such as `demo`."""
    from corpus.home import runs_home
    from experiments.publish import publish
    from experiments.runs import find_run
    from experiments.table import verdict_table

    folder = find_run(run, runs or runs_home())
    click.echo(verdict_table(publish(folder)))
    click.echo(f"Report: {folder.path / 'report.html'}")
