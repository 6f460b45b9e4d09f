"""The command `openbook vacuum`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from corpus.home import store_home
from indexer.commands.common import json_option, plural, print_json, store_option
from terminal import note


@click.command()
@click.option("--history", is_flag=True, help="Drop superseded versions too.")
@store_option
@json_option
def vacuum(*, history: bool, store: Path | None, as_json: bool) -> None:
    """Clear what was deleted from every file of the store: texts, words and vectors.

    A deleted document is never found again from the moment it is deleted; this takes it off the disk as well. Copies
    that were made of the store are yours to remove.
    """
    from indexer.maintenance.vacuum import vacuum as run

    cleared = run(store or store_home(), history=history)
    if as_json:
        print_json(asdict(cleared))
    else:
        click.echo(
            f"{plural(cleared.versions, 'superseded version')} and {plural(cleared.folders, 'folder')} of vectors "
            f"dropped; {cleared.bytes_before:,} bytes became {cleared.bytes_after:,}."
        )
    if not cleared.log_emptied:
        note("A process that is reading keeps SQLite from emptying its log. Run the command again when it has ended.")
    for copy in cleared.safety_copies:
        note(f"A restore has left the copy {copy}: what was deleted since is still in it.")
