"""The commands `openbook ingest`, `openbook documents` and `openbook search`."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from corpus.home import store_home
from terminal import Progress, duration, note, waiting

if TYPE_CHECKING:
    from indexer.index import Hit
    from indexer.outcomes import Outcome, Summary

Command = TypeVar("Command", bound=Callable[..., Any])

SHOWN_PROBLEMS = 20
SHOWN_CHARACTERS = 300
PAGE = 500
LOADING_SECONDS = 8
"""How long loading the embedding model takes, most of it the import of its library."""


def _common(command: Command) -> Command:
    """Add the options that every command of the index has."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Write JSON for a program instead of text for a person."),
        click.option(
            "--store", type=click.Path(path_type=Path), help="Folder of the store. [default: .openbook/store]"
        ),
        click.option("--collection", default="default", show_default=True, help="Set of documents."),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--embedder", help="Embedding model: local folder or Hugging Face id. [default: the installed one]")
@click.option("--chunk-tokens", type=click.IntRange(8), help="Longest chunk, in tokens of the embedder. [default: 128]")
@_common
def ingest(
    paths: tuple[Path, ...],
    *,
    embedder: str | None,
    chunk_tokens: int | None,
    collection: str,
    store: Path | None,
    as_json: bool,
) -> int:
    """Add the documents under each PATH to the index, or bring changed ones up to date.

    Reads Markdown, text, and JSONL with a document on every line: {"id": ..., "text": ...}. Exits with 1 where a
    document failed; the others are in the index even so.
    """
    from indexer.ingest import Watcher
    from indexer.ingest import ingest as run
    from indexer.settings import IndexerSettings

    shown = _Shown(as_json)
    with shown:
        summary = run(
            store or store_home(),
            paths,
            collection,
            embedder=embedder,
            settings=IndexerSettings() if chunk_tokens is None else IndexerSettings(chunk_tokens=chunk_tokens),
            watcher=Watcher(shown.start, shown.advance, shown.report),
        )
    if as_json:
        _print_json({"summary": asdict(summary)})
    else:
        click.echo(_summary_line(summary))
    shown.tell_problems()
    return 1 if summary.failed else 0


class _Shown:
    """What is seen of an ingest while it goes on: progress, and its outcomes as JSON lines."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._stack = ExitStack()
        self._progress: Progress | None = None
        self._bytes = 0
        self._problems: list[Outcome] = []

    def __enter__(self) -> None:
        self._stack.__enter__()

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, bytes_: int) -> None:
        self._progress = self._stack.enter_context(Progress("Ingesting", total=bytes_ // 1024 or 1, unit="KiB"))

    def advance(self, bytes_: int) -> None:
        self._bytes += bytes_
        if self._progress is not None:
            self._progress.advance(self._bytes // 1024 - self._progress.done)

    def report(self, outcome: Outcome) -> None:
        if outcome.status == "failed" or (outcome.status == "updated" and outcome.reason):
            self._problems.append(outcome)
        if self._as_json:
            _print_json(asdict(outcome))

    def tell_problems(self) -> None:
        for outcome in self._problems[:SHOWN_PROBLEMS]:
            note(str(outcome))
        if len(self._problems) > SHOWN_PROBLEMS:
            note(f"… and {len(self._problems) - SHOWN_PROBLEMS} more; --json shows them all.")


def _summary_line(summary: Summary) -> str:
    counts = {
        "added": summary.added,
        "updated": summary.updated,
        "unchanged": summary.unchanged,
        "skipped": summary.skipped,
        "failed": summary.failed,
    }
    parts = [f"{count:,} {name}" for name, count in counts.items() if count] or ["nothing to do"]
    line = f"{', '.join(parts)} in {duration(summary.seconds)}"
    if summary.chunks:
        line += f"; {_plural(summary.chunks, 'chunk')}, {summary.embedded:,} of them embedded"
    line += f". Collection {summary.collection!r}, generation {summary.generation}."
    if summary.skipped_because:
        line += " Skipped: " + "; ".join(f"{count:,} × {why}" for why, count in summary.skipped_because.items()) + "."
    return line


@click.group()
def documents() -> None:
    """List, show and delete the documents of the index."""


@documents.command("list")
@_common
def list_documents(*, collection: str, store: Path | None, as_json: bool) -> None:
    """List the documents of a collection in the order of their ids."""
    from indexer.index import Index

    with closing(Index.open(store or store_home())) as index:
        after: str | None = None
        while page := index.documents(collection, after, PAGE):
            for row in page:
                title = f"  {row.title}" if row.title else ""
                _print_json(asdict(row)) if as_json else click.echo(
                    f"{row.id}  ({_plural(row.chunk_count, 'chunk')}){title}"
                )
            after = page[-1].id


@documents.command("show")
@click.argument("document_id", metavar="ID")
@_common
def show_document(document_id: str, *, collection: str, store: Path | None, as_json: bool) -> None:
    """Show what is known about a document, and its text."""
    from indexer.index import Index

    with closing(Index.open(store or store_home())) as index:
        detail = index.document(collection, document_id)
    if as_json:
        _print_json(asdict(detail))
        return
    shown = {
        "title": detail.title,
        "source": detail.source,
        "effective": detail.effective,
        "authority": detail.authority or None,
        "supersedes": detail.supersedes,
        "indexed": f"{detail.indexed:%Y-%m-%d %H:%M} UTC",
        "length": f"{detail.characters:,} characters in {_plural(detail.chunk_count, 'chunk')}",
        **detail.metadata,
    }
    click.echo(detail.id)
    for name, value in shown.items():
        if value not in (None, ""):
            click.echo(f"  {name}: {value}")
    click.echo(f"\n{detail.text}")


@documents.command("delete")
@click.argument("document_ids", nargs=-1, required=True, metavar="ID...")
@_common
def delete_documents(document_ids: tuple[str, ...], *, collection: str, store: Path | None, as_json: bool) -> None:
    """Delete documents with all their versions. All of them, or none where one does not exist."""
    from indexer.deletion import delete

    generation = delete(store or store_home(), collection, document_ids)
    if as_json:
        _print_json({"deleted": list(dict.fromkeys(document_ids)), "generation": generation})
    else:
        click.echo(f"{len(set(document_ids)):,} deleted. Collection {collection!r}, generation {generation}.")


@click.command()
@click.argument("question")
@click.option("--top-k", type=click.IntRange(min=1, max=1000), default=5, show_default=True, help="How many passages.")
@click.option("--embedder", help="Embedding model. [default: the one that the collection was embedded with]")
@_common
def search(
    question: str, *, top_k: int, embedder: str | None, collection: str, store: Path | None, as_json: bool
) -> None:
    """Show the passages nearest to a question, without a language model."""
    from indexer.index import Index

    with closing(Index.open(store or store_home(), embedder)) as index:
        index.count_documents(collection)
        with waiting("Loading the embedding model", LOADING_SECONDS):
            found = index.search(collection, question, top_k)
    if as_json:
        hits = [asdict(hit) for hit in found.hits]
        _print_json({"question": question, "collection": collection, "generation": found.generation, "hits": hits})
        return
    for number, hit in enumerate(found.hits, start=1):
        click.echo(_hit_lines(number, hit))
    if not found.hits:
        note(f"The collection {collection!r} is empty.")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _hit_lines(number: int, hit: Hit) -> str:
    text = " ".join(hit.text.split())
    if len(text) > SHOWN_CHARACTERS:
        text = f"{text[:SHOWN_CHARACTERS]}…"
    title = f"  {hit.title}" if hit.title else ""
    return f"{number}. {hit.document_id}{title}  (score {hit.score:.3f}, passage {hit.chunk_id})\n   {text}\n"


def _print_json(value: dict[str, Any]) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, default=_as_json))


def _as_json(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
