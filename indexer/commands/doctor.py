"""The command `openbook doctor`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from corpus.home import store_home
from indexer.commands.common import json_option, print_json, store_option


@click.command()
@click.option("--fix", is_flag=True, help="Repair what is derived from the stored texts; never the texts themselves.")
@store_option
@json_option
def doctor(*, fix: bool, store: Path | None, as_json: bool) -> int:
    """Examine the store: database, texts, chunks, vectors, full text index, published indexes, leftovers.

    Changes nothing without --fix. Exits with 1 where something fails.
    """
    from indexer.doctor.examination import examine

    results = examine(store or store_home(), fix=fix)
    failed = any(result.level == "fail" for result in results)
    if as_json:
        print_json({"healthy": not failed, "checks": [asdict(result) for result in results]})
        return int(failed)
    for result in results:
        click.echo(
            f"{'fixed' if result.fixed else result.level:5}  {result.check}"
            + (f": {result.detail}" * bool(result.detail))
        )
        if result.command and not result.fixed:
            click.echo(f"       mend it with: {result.command}")
    return int(failed)
