"""The command `openbook bench ingest`: options and tables."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from indexer.benchmarks.growing import Growth
    from indexer.benchmarks.ingesting import Block, Throughput


@click.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Files to ingest. [an invented world]",
)
@click.option("--blocks", default=4, show_default=True, type=click.IntRange(1), help="Blocks the files are dealt to.")
@click.option("--documents", type=click.IntRange(10_000), help="Ingest so many small documents instead, in one go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def ingest(*, folder: Path | None, blocks: int, documents: int | None, as_json: bool) -> None:
    """Measure ingest against SentenceTransformer.encode over the same chunks.

    With --documents: whether many small documents take time in proportion and memory that stays, and how soon one
    changed file among them is searchable.
    """
    from indexer.settings import IndexerSettings

    settings = IndexerSettings()
    if documents is not None:
        from indexer.benchmarks import growing

        growth = growing.measure(documents, settings)
        click.echo(json.dumps(asdict(growth), indent=2) if as_json else _growth(growth))
        return
    from indexer.benchmarks import ingesting

    try:
        result = ingesting.measure(folder, blocks, settings)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--folder") from error
    click.echo(json.dumps(asdict(result), indent=2) if as_json else _throughput(result))


def _throughput(result: Throughput) -> str:
    heading = f"{'files':>6} {'chunks':>7} {'openbook':>11} {'encode':>10} {'ratio':>6}"
    lines = [f"{heading} {'same type':>10} {'ratio':>6} {'again':>9}", *map(_block, result.blocks)]
    lines.append(
        f"{result.chunks:,} chunks, embedded in {result.dtype}. At the median of the blocks, "
        f"{result.against_defaults:.2f} times encode with its defaults (float32, batches of 32) and "
        f"{result.against_same:.2f} times encode with the same type and batches; for each second of the processor, "
        f"{result.processor_against_defaults:.2f} and {result.processor_against_same:.2f} times. Unchanged files are "
        f"passed over {result.unchanged_speedup:.0f} times as fast."
    )
    return "\n".join(lines)


def _block(block: Block) -> str:
    ours, defaults, same = block.openbook.seconds, block.defaults.seconds, block.same.seconds
    return (
        f"{block.files:>6} {block.chunks:>7} {block.chunks / ours:>9.1f}/s {block.chunks / defaults:>8.1f}/s "
        f"{defaults / ours:>6.2f} {block.chunks / same:>8.1f}/s {same / ours:>6.2f} "
        f"{ours / block.unchanged.seconds:>7.0f} x"
    )


def _growth(growth: Growth) -> str:
    lines = [f"{'documents':>10} {'seconds':>8} {'resident':>10}"]
    step = growth.documents // len(growth.seconds)
    lines += [
        f"{step * (number + 1):>10,} {seconds:>8.1f} {resident:>6.0f} MiB"
        for number, (seconds, resident) in enumerate(zip(growth.seconds, growth.resident_mib, strict=True))
    ]
    lines += [
        f"Embedded by one layer. The slowest tenth took {growth.slowest_by_fastest:.2f} times as long as the fastest, "
        "the first left out.",
        f"The command took {growth.unchanged_seconds:.2f} s when no file had changed. When one had, it was found after "
        f"{growth.changed_seconds:.2f} s, {growth.load_seconds:.2f} s of them for loading the embedder: after "
        f"{growth.searchable_seconds:.2f} s without.",
    ]
    return "\n".join(lines)
