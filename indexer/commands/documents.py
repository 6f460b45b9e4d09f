"""The command `openbook documents`."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from corpus.home import store_home
from indexer.commands.common import common_options, plural, print_json

PAGE = 500


@click.group()
def documents() -> None:
    """List, show and delete the documents of the index."""


@documents.command("versions")
@click.argument("document_id", metavar="ID")
@common_options
def list_versions(document_id: str, *, collection: str, store: Path | None, as_json: bool) -> None:
    """List the versions of a document, the newest first."""
    from indexer.index import Index

    with closing(Index.open(store or store_home())) as index:
        rows = index.versions(collection, document_id)
    for row in rows:
        if as_json:
            print_json(asdict(row))
            continue
        until = "current" if row.current else f"until {row.ended:%Y-%m-%d %H:%M}"
        effective = f", effective {row.effective}" if row.effective else ""
        click.echo(
            f"{row.version}  indexed {row.indexed:%Y-%m-%d %H:%M}, {until}{effective}  "
            f"({plural(row.chunk_count, 'chunk')}, {row.characters:,} characters)"
        )


@documents.command("list")
@common_options
def list_documents(*, collection: str, store: Path | None, as_json: bool) -> None:
    """List the documents of a collection in the order of their ids."""
    from indexer.index import Index

    with closing(Index.open(store or store_home())) as index:
        after: str | None = None
        while page := index.documents(collection, after, PAGE):
            for row in page:
                title = f"  {row.title}" if row.title else ""
                print_json(asdict(row)) if as_json else click.echo(
                    f"{row.id}  ({plural(row.chunk_count, 'chunk')}){title}"
                )
            after = page[-1].id


@documents.command("show")
@click.argument("document_id", metavar="ID")
@click.option("--version", type=int, metavar="N", help="A version that `openbook documents versions` lists.")
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="The version that held on that day.")
@common_options
def show_document(
    document_id: str, *, version: int | None, as_of: datetime | None, collection: str, store: Path | None, as_json: bool
) -> None:
    """Show what is known about a document, and its text: its current version, another, or that of a day."""
    from indexer.index import Index

    if version is not None and as_of is not None:
        raise click.UsageError("--version and --as-of both say which version: give one of them.")
    with closing(Index.open(store or store_home())) as index:
        detail = index.document(collection, document_id, version, as_of.date() if as_of else None)
    if as_json:
        print_json(asdict(detail))
        return
    shown = {
        "title": detail.title,
        "source": detail.source,
        "effective": detail.effective,
        "authority": detail.authority or None,
        "supersedes": detail.supersedes,
        "indexed": f"{detail.indexed:%Y-%m-%d %H:%M} UTC",
        "length": f"{detail.characters:,} characters in {plural(detail.chunk_count, 'chunk')}",
        **detail.metadata,
    }
    click.echo(detail.id)
    for name, value in shown.items():
        if value not in (None, ""):
            click.echo(f"  {name}: {value}")
    click.echo(f"\n{detail.text}")


@documents.command("delete")
@click.argument("document_ids", nargs=-1, required=True, metavar="ID...")
@common_options
def delete_documents(document_ids: tuple[str, ...], *, collection: str, store: Path | None, as_json: bool) -> None:
    """Delete documents with all their versions. All of them, or none where one does not exist."""
    from indexer.ingesting.deletion import delete

    state = delete(store or store_home(), collection, document_ids)
    if as_json:
        deleted = list(dict.fromkeys(document_ids))
        print_json({"deleted": deleted, "generation": state.generation, "revision": state.revision})
    else:
        click.echo(f"{len(set(document_ids)):,} deleted. Collection {collection!r}, revision {state.revision}.")
