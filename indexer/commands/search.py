"""The command `openbook search`."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from corpus.errors import UsageError
from corpus.home import store_home
from indexer.commands.common import common_options, plural, print_json
from terminal import note, waiting

if TYPE_CHECKING:
    from indexer.search.hits import Hit

RETRIEVERS = ("dense", "lexical", "hybrid")
"""As in `indexer.search`, which is not imported for a help text."""
SHOWN_CHARACTERS = 300
LOADING_SECONDS = 8
"""How long loading the embedding model takes, most of it the import of its library."""
REASONS = {
    "empty_collection": "The collection {collection!r} is empty.",
    "filter_matches_nothing": "No passage of the collection {collection!r} is of that day and passes the filter.",
    "no_word_found": "No passage of the collection {collection!r} holds a word of the question.",
    "below_threshold": "No passage of the collection {collection!r} is as similar to the question as {min_score:.3f}.",
}


@click.command()
@click.argument("question", required=False)
@click.option("--top-k", type=click.IntRange(min=1, max=1000), default=5, show_default=True, help="How many passages.")
@click.option(
    "--retriever",
    type=click.Choice(RETRIEVERS),
    default="dense",
    show_default=True,
    help="By meaning (dense), by words (lexical), or by both.",
)
@click.option("--filter", "filter_", metavar="JSON", help='Which passages, such as \'{"year": {"gte": 2024}}\'.')
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Which passages; may be given several times.")
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Search what held on that day.")
@click.option("--rerank", metavar="MODEL", help="Cross-encoder that puts the best 50 into its own order.")
@click.option("--mmr", type=click.FloatRange(0, 1), metavar="WEIGHT", help="Relevance (1) against novelty (0).")
@click.option("--min-score", metavar="SCORE", help='Least cosine with the question, or "calibrated".')
@click.option("--margin", type=click.FloatRange(0, 2), help="How much less similar than the best others may be.")
@click.option("--no-collapse", is_flag=True, help="Leave near-duplicates where they are.")
@click.option("--per-document", type=click.IntRange(min=1), metavar="N", help="Passages of one document, at most.")
@click.option(
    "--superseded",
    type=click.Choice(["demote", "drop", "keep"]),
    default="demote",
    show_default=True,
    help="What becomes of passages whose document another one supersedes.",
)
@click.option("--embedder", help="Embedding model. [default: the one that the collection was embedded with]")
@click.option("--calibrate", is_flag=True, help="Find and keep the least score that --min-score calibrated uses.")
@common_options
def search(
    question: str | None,
    *,
    calibrate: bool,
    embedder: str | None,
    collection: str,
    store: Path | None,
    as_json: bool,
    top_k: int,
    **options: Any,
) -> None:
    """Show the passages that answer a QUESTION best, without a language model.

    Fields of --filter and --where: id, title, source, authority, effective, indexed, page, and every metadata key.
    Operators: eq, ne, in, not_in, gt, gte, lt, lte, prefix, exists; and, or, not.
    """
    from indexer.index import Index

    if calibrate == (question is not None):
        raise UsageError("Give a question, or --calibrate without one.")
    with closing(Index.open(store or store_home(), embedder)) as index:
        index.count_documents(collection)
        with waiting("Loading the embedding model", LOADING_SECONDS):
            if question is None:
                _calibrate(index, collection, as_json=as_json)
                return
            found = index.search(collection, question, top_k, _search_options(**options))
    if as_json:
        print_json({"question": question, "collection": collection, **asdict(found)})
        return
    for number, hit in enumerate(found.hits, start=1):
        click.echo(_hit_lines(number, hit))
    if not found.hits:
        note(REASONS[found.reason or "empty_collection"].format(collection=collection, min_score=found.min_score))


def _search_options(
    *,
    filter_: str | None,
    where: tuple[str, ...],
    as_of: datetime | None,
    min_score: str | None,
    no_collapse: bool,
    **options: Any,
) -> Any:
    from indexer.search.options import SearchOptions

    return SearchOptions(
        filter=_filter(filter_, where),
        as_of=as_of.date() if as_of else None,
        min_score=_min_score(min_score),
        collapse=not no_collapse,
        **options,
    )


def _filter(filter_: str | None, where: tuple[str, ...]) -> dict[str, Any] | None:
    from indexer.search.fields import FIELDS

    conditions: list[Any] = []
    if filter_ is not None:
        try:
            conditions.append(json.loads(filter_))
        except json.JSONDecodeError as error:
            raise UsageError(f'--filter is no JSON ({error}). Write it like \'{{"team": "harbour"}}\'.') from error
    for each in where:
        name, equals, value = each.partition("=")
        if not (name and equals):
            raise UsageError(f"--where takes FIELD=VALUE, not {each!r}.")
        is_number = name in FIELDS and FIELDS[name].kind == "integer" and value.lstrip("-").isdecimal()
        conditions.append({name: int(value) if is_number else value})
    return {"and": conditions} if conditions else None


def _min_score(value: str | None) -> float | Literal["calibrated"] | None:
    if value is None:
        return None
    if value == "calibrated":
        return "calibrated"
    try:
        return float(value)
    except ValueError as error:
        raise UsageError(f'--min-score takes a number or "calibrated", not {value!r}.') from error


def _calibrate(index: Any, collection: str, *, as_json: bool) -> None:
    from indexer.search.calibrating import calibrate_collection

    calibration = calibrate_collection(index, collection)
    if as_json:
        print_json({"collection": collection, **asdict(calibration)})
        return
    click.echo(
        f"Least score {calibration.min_score:.3f} for the collection {collection!r}: it refuses "
        f"{calibration.foreign_refused:.0%} of {calibration.foreign_probes} foreign questions and keeps "
        f"{calibration.own_kept:.0%} of {plural(calibration.own_probes, 'sentence')} of its own."
    )


def _hit_lines(number: int, hit: Hit) -> str:
    text = " ".join(hit.text.split())
    if len(text) > SHOWN_CHARACTERS:
        text = f"{text[:SHOWN_CHARACTERS]}…"
    title = f"  {hit.title}" if hit.title else ""
    lines = [f"{number}. {hit.document_id}{title}  (score {hit.score:.3f}, passage {hit.chunk_id})"]
    if hit.superseded_by:
        lines.append(f"   superseded by {', '.join(hit.superseded_by)}")
    if hit.duplicate_of is not None:
        lines.append(f"   near-duplicate of passage {hit.duplicate_of}")
    return "\n".join([*lines, f"   {text}", ""])
