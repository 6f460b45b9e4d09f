"""The command `openbook bench search`: options and tables."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from indexer.benchmarks.search import Result

LEAST = 200
"""The questions of the benchmark are that many, and an index holds no fewer passages."""


@click.command()
@click.option("--sizes", default="10000,100000,1000000", show_default=True, help="Numbers of chunks to measure.")
@click.option("--fit", default=2000, show_default=True, type=click.IntRange(100), help="Passages embedded to fit to.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Where stores are made for a time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def search(*, sizes: str, fit: int, folder: Path | None, as_json: bool) -> None:
    """Measure opening and searching a store of up to a million chunks against exact search.

    A million chunks take some minutes and 4 GB of disk, which are given back.
    """
    numbers = _numbers(sizes)
    from indexer.benchmarks.search import measure

    result = measure(numbers, fit, folder)
    if as_json:
        click.echo(json.dumps(asdict(result), indent=2))
    else:
        click.echo(f"{_table(result)}\n\n{_likeness(result)}")


def _numbers(sizes: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(number) for number in sizes.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < LEAST:
        raise click.BadParameter(
            f"{sizes!r} is no list of whole numbers from {LEAST}, such as 10000,1000000", param_hint="--sizes"
        )
    return numbers


def _table(result: Result) -> str:
    rows = result.sizes
    lines = [
        f"{'chunks':>9} {'recall@10':>9} {'open':>7} {'p50':>8} {'p95':>8} {'cold p50':>9} {'cold p95':>9} "
        f"{'exact p50':>10} {'own':>8} {'mapped':>8} {'index':>9} {'database':>9} {'build':>7}"
    ]
    lines += [
        f"{row.chunks:>9,} {row.recall_at_10:>9.3f} {row.open_seconds:>5.2f} s {row.p50_ms:>5.1f} ms "
        f"{row.p95_ms:>5.1f} ms {row.cold_p50_ms:>6.1f} ms {row.cold_p95_ms:>6.1f} ms {row.exact_p50_ms:>7.1f} ms "
        f"{row.own_mib:>4.0f} MiB {row.mapped_mib:>4.0f} MiB {row.index_mib:>5.0f} MiB {row.database_mib:>5.0f} MiB "
        f"{row.build_seconds:>5.0f} s"
        for row in rows
    ]
    first, last = rows[0], rows[-1]
    if len(rows) > 1:
        lines.append(
            f"{last.chunks / first.chunks:,.0f} times the chunks: {last.p50_ms / first.p50_ms:.1f} times the median, "
            f"{last.exact_p50_ms / first.exact_p50_ms:.0f} times that of exact search."
        )
    lines += [f"{row.chunks:,}: {row.index}" for row in rows]
    return "\n".join(lines)


def _likeness(result: Result) -> str:
    like = result.likeness
    lines = [f"Recall@10 of lists on {result.fit:,} embedded passages and as many drawn ones, by lists looked into:"]
    lines += [
        f"{probes:>4}  embedded {real:.3f}  drawn {drawn:.3f}"
        for probes, real, drawn in zip(like.probes, like.embedded, like.drawn, strict=True)
    ]
    lines.append(
        f"With as many as the index chose: embedded {like.embedded_chosen[1]:.3f} ({like.embedded_chosen[0]}), "
        f"drawn {like.drawn_chosen[1]:.3f} ({like.drawn_chosen[0]})"
    )
    lines.append(
        f"Cosine of a question with the nearest and the tenth passage: embedded {like.embedded_cosines[0]:.2f} and "
        f"{like.embedded_cosines[1]:.2f}, drawn {like.drawn_cosines[0]:.2f} and {like.drawn_cosines[1]:.2f}"
    )
    return "\n".join(lines)
