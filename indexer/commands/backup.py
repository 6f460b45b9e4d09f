"""The commands `openbook backup` and `openbook restore`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from corpus.home import store_home
from indexer.commands.common import json_option, plural, print_json, store_option
from terminal import note


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@store_option
@json_option
def backup(target: Path, *, store: Path | None, as_json: bool) -> None:
    """Copy the store to TARGET: a tar file where the name ends with .tar, else a folder.

    Servers and a running ingest go on meanwhile; the copy holds one state of the store, that of a commit.
    """
    from indexer.maintenance.backup import backup as run

    description = run(store or store_home(), target)
    if as_json:
        print_json({"backup": str(target), **asdict(description)})
    else:
        click.echo(f"{_held(description.collections)}, {description.bytes:,} bytes, in {target}.")


@click.command()
@click.argument("source", metavar="BACKUP", type=click.Path(path_type=Path))
@store_option
@json_option
def restore(source: Path, *, store: Path | None, as_json: bool) -> None:
    """Put a BACKUP in the place of the store, after copying the present one aside.

    A server goes on meanwhile, and answers from the backup as soon as this has ended. Where the present store is too
    damaged to be opened it is moved aside as it is; a server that has it open must then be started again.
    """
    from indexer.maintenance.restoring import restore as run

    restored = run(store or store_home(), source)
    if as_json:
        print_json(asdict(restored))
    else:
        click.echo(f"{_held(restored.collections)} restored from the backup of {restored.created}.")
    if restored.safety_copy:
        moved = "was damaged; it was moved to" if restored.was_damaged else "is kept in"
        note(f"The store that was there {moved} {restored.safety_copy}.")


def _held(collections: dict[str, int]) -> str:
    documents = plural(sum(collections.values()), "document")
    return f"{documents} in {plural(len(collections), 'collection')}"
