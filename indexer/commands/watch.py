"""The command `openbook watch`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corpus.errors import UsageError
from corpus.home import store_home
from indexer.commands.common import common_options, plural, print_json
from indexer.commands.ingest import line_for, options_from, settings_from, source_options, sources_from
from terminal import note

if TYPE_CHECKING:
    from indexer.ingesting.outcomes import FileRecord, Summary


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@source_options
@click.option(
    "--sweep", type=click.FloatRange(1), default=300.0, show_default=True, help="Seconds between looks at everything."
)
@common_options
def watch(
    paths: Sequence[str], *, sweep: float, collection: str, store: Path | None, as_json: bool, **given: Any
) -> int:
    """Follow files and folders: bring what is added, changed, renamed or deleted under each PATH into the index.

    Begins with what changed since the last time, then writes a line for each change, or a line of JSON with --json. The
    store is locked only while a change is written. Ctrl-C ends it with exit code 130, SIGTERM with 0; what was
    committed stays.
    """
    from indexer.embedding.embedders import Embedders
    from indexer.ingesting.watching import Followed, Follower
    from indexer.store.writer import check_collection_name

    check_collection_name(collection)
    sources = sources_from(paths, given)
    if not sources.are_whole:
        raise UsageError(
            "Files and folders can be watched; a glob, stdin or a URL cannot. Choose files with --include."
        )
    settings = settings_from(given)
    followed = Followed(
        store=store or store_home(),
        collection=collection,
        sources=lambda: sources_from(paths, given),
        roots=tuple(root.path.absolute() for root in sources.roots),
        embedders=Embedders(given["embedder"], settings),
        settings=settings,
        options=options_from(given),
    )

    def report(record: FileRecord) -> None:
        print_json(asdict(record)) if as_json else click.echo(line_for(record))

    def ready(summary: Summary | None) -> None:
        known = plural(summary.added + summary.updated + summary.unchanged, "document") if summary else "what is"
        note(f"Watching {known} under {', '.join(paths)}. Ctrl-C ends it.")

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    Follower(followed, report, sweep_seconds=sweep, stop=stop).follow(ready)
    return 0
