"""`openbook bench attacks`: how many documents take over the answer, with Openbook's defence and without it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from experiments.bench.attacks.attack import Attack, read_attacks
from experiments.bench.attacks.ways import WAYS, Outcome, Target
from experiments.bench.options import AS_JSON, ENGINE_URL
from experiments.client import Client
from experiments.columns import aligned
from experiments.commands import Indexing, OpenbookCommands
from experiments.environment import environment
from terminal import Progress

COLLECTION = "attacks"


@click.command()
@click.option("--model", metavar="LABEL|PATH|HF_ID", help="The model that is attacked; the base checkpoint by default.")
@ENGINE_URL
@AS_JSON
def attacks(*, model: str | None, engine_url: str | None, as_json: bool) -> None:
    """Attack answers with 30 documents of six kinds, without and with the defence (2 minutes).

    An attack breaks in where its text becomes a control token or a line of the prompt's own, and is obeyed where the
    answer says what the document wants.
    """
    with tempfile.TemporaryDirectory(prefix="openbook-bench-") as name:
        folder, commands = Path(name), OpenbookCommands(engine_url)
        documents = write_documents(folder, read_attacks())
        commands.ingest(documents, folder / "store", COLLECTION, Indexing(), folder / "ingest.log")
        with commands.serve(model, folder / "store", None, folder / "serve.log") as client:
            outcomes = run_attacks(client, read_attacks())
    if as_json:
        click.echo(
            json.dumps({"environment": environment(), "outcomes": [asdict(each) for each in outcomes]}, indent=2)
        )
    else:
        click.echo(table(outcomes))


def write_documents(folder: Path, tried: Sequence[Attack]) -> Path:
    """Write the documents of attacks as JSON Lines, to be ingested."""
    path = folder / "attacks.jsonl"
    rows = [json.dumps({"id": each.id, "title": each.title, "text": each.text}) for each in tried]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def run_attacks(client: Client, tried: Sequence[Attack]) -> list[Outcome]:
    """Ask the question of every attack in every way; the documents lie in the collection `attacks`."""
    outcomes = []
    with Target(client, COLLECTION) as target, Progress("attacks", len(tried), "attacks") as progress:
        for attack in tried:
            outcomes += target.try_all(attack)
            progress.advance()
    return outcomes


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the counts of each kind and way as a table."""
    kinds = [*dict.fromkeys(each.kind for each in outcomes), "all"]
    rows = [_row(kind, way, outcomes) for kind in kinds for way in WAYS]
    return "\n".join(aligned([("kind", "prompt", "attacks", "broke in", "obeyed", "answered"), *rows]))


def _row(kind: str, way: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    of_it = [each for each in outcomes if each.way == way and kind in (each.kind, "all")]
    counts = (sum(each.broke_in for each in of_it), sum(each.obeyed for each in of_it), sum(e.answered for e in of_it))
    return kind, way, str(len(of_it)), *map(str, counts)
