"""The command `openbook ingest`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corpus.errors import UsageError
from corpus.home import store_home
from indexer.commands.common import Command, common_options, plural, print_json
from terminal import Progress, duration, note

if TYPE_CHECKING:
    from indexer.ingesting.outcomes import FileRecord, Summary

SHOWN_PROBLEMS = 20
COUNTED = ("added", "updated", "unchanged", "duplicate", "skipped", "failed", "deleted")


def source_options(command: Command) -> Command:
    """Add the options that say which files are taken and what holds for their documents."""
    for option in (
        click.option("--metadata", multiple=True, metavar="KEY=VALUE", help="Metadata of documents that lack the key."),
        click.option("--supersedes", metavar="ID", help="The document that they replace, where they name none."),
        click.option("--authority", type=click.IntRange(0), help="How much they are believed, where they do not say."),
        click.option(
            "--effective", type=click.DateTime(["%Y-%m-%d"]), help="The day they hold from, where they do not say."
        ),
        click.option("--exclude", multiple=True, metavar="PATTERN", help="Files to leave out, as in .gitignore."),
        click.option("--include", multiple=True, metavar="PATTERN", help="The only files to take, as in .gitignore."),
        click.option("--chunk-tokens", type=click.IntRange(8), help="Longest chunk, in the embedder's tokens. [128]"),
        click.option("--chunk-overlap", type=click.IntRange(0), help="Tokens repeated of the chunk before. [0]"),
        click.option("--embedder", help="Embedding model: local folder or Hugging Face id. [the installed one]"),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@source_options
@click.option("--stdin-name", metavar="NAME", help="Name of the document that PATH - reads from stdin: notes.md.")
@click.option("--allow-urls", is_flag=True, help="Fetch PATHs that are http(s) URLs, from public addresses alone.")
@click.option("--dry-run", is_flag=True, help="Say what would happen; embed and write nothing.")
@click.option("--strict", is_flag=True, help="A file or a page without text is a failure.")
@click.option("--max-errors", type=click.IntRange(1), help="Stop after so many failures; what is done stays.")
@click.option("--delete-missing", is_flag=True, help="Delete documents whose files are gone from the PATHs.")
@click.option("--force", is_flag=True, help="Delete them even where they are more than half.")
@click.option("--publish", is_flag=True, help="Publish the index at the end, even where little has changed.")
@click.option("--reread", is_flag=True, help="Read files even where size and time of change are as they were.")
@common_options
def ingest(paths: Sequence[str], *, collection: str, store: Path | None, as_json: bool, **given: Any) -> int:
    """Add the documents under each PATH to the index, or bring changed ones up to date.

    A PATH is a file, a folder, a quoted glob ('docs/**/*.md'), - for stdin, or a URL. A JSONL file holds a document on
    every line: {"text": ..., "id": ..., "title": ..., "metadata": {...}}. With --json there is a line for each file and
    a summary at the end. Exits with 1 where a document failed; the others are in the index even so.
    """
    from indexer.ingesting.following import Watcher
    from indexer.ingesting.ingest import ingest as run

    shown = _Shown(as_json=as_json, lists=given["dry_run"], strict=given["strict"])
    with shown:
        summary = run(
            store or store_home(),
            sources_from(paths, given),
            collection,
            embedder=given["embedder"],
            settings=settings_from(given),
            options=options_from(given),
            watcher=Watcher(shown.start, shown.advance, record=shown.record),
        )
    if as_json:
        print_json({"summary": asdict(summary)})
    else:
        click.echo(_summary_line(summary))
    shown.tell_problems()
    return 1 if summary.failed or (given["strict"] and summary.incomplete) else 0


def sources_from(paths: Sequence[str], given: dict[str, Any]) -> Any:
    """Return the sources that the command line names."""
    from indexer.settings import IndexerSettings
    from indexer.sources.sources import Sources

    fetch = None
    if given.get("allow_urls") or IndexerSettings().allow_urls:
        from indexer.sources.fetching import Fetcher

        fetch = Fetcher().fetch
    sources = Sources(
        paths,
        include=given["include"],
        exclude=given["exclude"],
        stdin_name=given.get("stdin_name"),
        fetch=fetch,
    )
    if given.get("delete_missing") and not sources.are_whole:
        raise UsageError(
            "--delete-missing needs files and folders: what is missing from a glob, stdin or a URL cannot be told."
        )
    return sources


def settings_from(given: dict[str, Any]) -> Any:
    """Return the settings of the environment with what the command line says."""
    from indexer.settings import IndexerSettings

    chosen = {name: given[name] for name in ("chunk_tokens", "chunk_overlap") if given[name] is not None}
    return IndexerSettings(**chosen)


def options_from(given: dict[str, Any]) -> Any:
    """Return how the ingest goes about it."""
    from indexer.ingesting.options import IngestOptions, Provenance

    effective: datetime | None = given["effective"]
    provenance = Provenance(
        date(effective.year, effective.month, effective.day) if effective else None,
        given["authority"],
        given["supersedes"],
        dict(_pair(said) for said in given["metadata"]),
    )
    names = ("strict", "max_errors", "dry_run", "delete_missing", "force", "reread", "publish")
    return IngestOptions(provenance=provenance, **{name: given[name] for name in names if name in given})


def _pair(said: str) -> tuple[str, str]:
    key, equals, value = said.partition("=")
    if not (key.strip() and equals):
        raise UsageError(f"--metadata {said!r} has to be KEY=VALUE, such as --metadata team=harbour.")
    return key.strip(), value


class _Shown:
    """What is seen of an ingest while it goes on: progress, and what became of each file."""

    def __init__(self, *, as_json: bool, lists: bool, strict: bool) -> None:
        self._as_json = as_json
        self._strict = strict
        self._lists = lists
        self._stack = ExitStack()
        self._progress: Progress | None = None
        self._bytes = 0
        self._problems: list[str] = []
        self._more = 0

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

    def record(self, record: FileRecord) -> None:
        if self._as_json:
            # Nothing in a record holds another dataclass: asdict would copy each value for nothing.
            print_json(vars(record))
        elif self._lists and record.status not in ("unchanged", "skipped"):
            click.echo(line_for(record))
        for line in _problem_lines(record, strict=self._strict):
            if len(self._problems) < SHOWN_PROBLEMS:
                self._problems.append(line)
            else:
                self._more += 1

    def tell_problems(self) -> None:
        for line in self._problems:
            note(line)
        if self._more:
            note(f"… and {self._more:,} more; --json shows them all.")


def line_for(record: FileRecord) -> str:
    """Return what became of a file, for a person: `updated    docs/a.md (moved from docs/b.md)`."""
    why = record.reason or (record.duplicate_of and f"the same bytes as {record.duplicate_of}")
    return f"{record.status:9}  {record.path}" + (f" ({why})" if why else "")


def _problem_lines(record: FileRecord, *, strict: bool) -> list[str]:
    lines = [
        f"{record.path}:{problem['line']}: failed: {problem['reason']}"
        if problem["line"]
        else f"{record.path}: {problem['id']}: failed: {problem['reason']}"
        for problem in record.problems
    ]
    if not lines and (record.status == "failed" or (record.status == "updated" and record.reason)):
        lines.append(f"{record.path}: {record.status}: {record.reason}")
    if strict or record.status in ("added", "updated"):
        lines += [f"{record.path}: {note_}" for note_ in record.notes]
    if record.near_duplicate_of:
        lines.append(f"{record.path}: {record.similarity:.0%} the same as {record.near_duplicate_of}")
    return lines


def _summary_line(summary: Summary) -> str:
    counts = {name: getattr(summary, name) for name in COUNTED}
    parts = [f"{count:,} {name}" for name, count in counts.items() if count] or ["nothing to do"]
    line = f"{', '.join(parts)} in {duration(summary.seconds)}"
    if summary.dry_run:
        line = f"Would be: {', '.join(parts)}"
    elif summary.chunks:
        line += f"; {plural(summary.chunks, 'chunk')}, {summary.embedded:,} of them embedded"
    kind = f" ({summary.index})" if summary.index else ""
    line += f". Collection {summary.collection!r}, generation {summary.generation}{kind}, revision {summary.revision}."
    if summary.skipped_because:
        line += " Skipped: " + "; ".join(f"{count:,} × {why}" for why, count in summary.skipped_because.items()) + "."
    if summary.stopped:
        line += f" Stopped after {plural(summary.failed, 'failure')}; run it again for the rest."
    return line
