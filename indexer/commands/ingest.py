"""The command `openbook ingest`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corpus.home import store_home
from indexer.commands.common import common_options, plural, print_json
from terminal import Progress, duration, note

if TYPE_CHECKING:
    from indexer.outcomes import Outcome, Summary

SHOWN_PROBLEMS = 20


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--embedder", help="Embedding model: local folder or Hugging Face id. [default: the installed one]")
@click.option("--chunk-tokens", type=click.IntRange(8), help="Longest chunk, in tokens of the embedder. [default: 128]")
@common_options
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
        print_json({"summary": asdict(summary)})
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
            print_json(asdict(outcome))

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
        line += f"; {plural(summary.chunks, 'chunk')}, {summary.embedded:,} of them embedded"
    line += f". Collection {summary.collection!r}, generation {summary.generation}, revision {summary.revision}."
    if summary.skipped_because:
        line += " Skipped: " + "; ".join(f"{count:,} × {why}" for why, count in summary.skipped_because.items()) + "."
    return line
