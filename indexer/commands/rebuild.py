"""The command `openbook rebuild`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from corpus.home import store_home
from indexer.commands.common import common_options, plural, print_json
from terminal import Progress, duration


@click.command()
@click.option("--embed-only", is_flag=True, help="Keep the chunks and their ids; only embed them anew.")
@click.option("--embedder", help="Embedding model from now on. [default: the collection's own]")
@click.option("--chunk-tokens", type=click.IntRange(8), help="Longest chunk, in tokens of the embedder. [default: 128]")
@click.option("--chunk-overlap", type=click.IntRange(0), help="Tokens repeated of the chunk before. [default: 0]")
@common_options
def rebuild(
    *,
    embed_only: bool,
    embedder: str | None,
    chunk_tokens: int | None,
    chunk_overlap: int | None,
    collection: str,
    store: Path | None,
    as_json: bool,
) -> None:
    """Cut and embed the stored texts of a collection anew, without the files that they were read from.

    What is served goes on being served until all is ready, and is then replaced at once. After an interruption the
    same command goes on where it was. With another embedder this is how a collection changes to it.
    """
    from indexer.maintenance.rebuilding import rebuild as run
    from indexer.settings import IndexerSettings

    given: dict[str, Any] = {"chunk_tokens": chunk_tokens, "chunk_overlap": chunk_overlap}
    settings = IndexerSettings(**{name: value for name, value in given.items() if value is not None})
    with Progress("Rebuilding", total=1, unit="chunks" if embed_only else "documents") as progress:

        def advance(done: int, total: int) -> None:
            progress.total = total
            progress.advance(done - progress.done)

        rebuilt = run(
            store or store_home(),
            collection,
            embed_only=embed_only,
            embedder=embedder,
            settings=settings,
            advance=advance,
        )
    if as_json:
        print_json(asdict(rebuilt))
    else:
        click.echo(
            f"{plural(rebuilt.chunks, 'chunk')} embedded with {rebuilt.embedder} in {duration(rebuilt.seconds)}. "
            f"Collection {collection!r}, generation {rebuilt.generation}, revision {rebuilt.revision}."
        )
