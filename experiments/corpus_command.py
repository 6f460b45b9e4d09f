"""`openbook corpus`: write a corpus of an invented world."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from corpus.errors import UsageError
from corpus.schema import Document
from corpus.world.generate import DOCUMENTS, SEED
from corpus.writing import (
    DOCUMENTS_FILE,
    DOCUMENTS_FOLDER,
    QUESTIONS_FILE,
    write_documents,
    write_markdown,
    write_questions,
)
from terminal import Progress, waiting


@click.group()
def corpus() -> None:
    """Write corpora of an invented world, which no model has read before."""


@corpus.command()
@click.argument("destination", type=click.Path(path_type=Path))
@click.option("--seed", default=SEED, show_default=True, help="Names the world; another seed, another island.")
@click.option(
    "--documents",
    default=DOCUMENTS,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many; each fourteen tell one district with 26 facts.",
)
@click.option(
    "--format",
    "form",
    default="folder",
    show_default=True,
    type=click.Choice(["folder", "jsonl"]),
    help="Markdown files for people, or documents.jsonl for programs.",
)
@click.option("--sets", is_flag=True, help="Also write the sets updates/, contradictions/ and duplicates/.")
def write(destination: Path, seed: int, documents: int, form: str, sets: bool) -> None:
    """Write documents and questions.jsonl to the folder DESTINATION, which must be new or empty.

    The same seed and number give the same bytes. A world of any size is written in constant memory.
    """
    from corpus.world.documents import DOCUMENTS_PER_DISTRICT
    from corpus.world.generate import iter_documents, iter_questions
    from corpus.world.variants import VARIANTS, iter_variant_documents, iter_variant_questions

    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise UsageError(f"{destination} is there already and is not an empty folder. Name a new one.")
    with Progress("Writing documents", documents, "documents") as progress:
        _write(destination, form, _counted(iter_documents(seed, documents), progress))
    with waiting("Writing questions", documents / 10_000):
        write_questions(destination / QUESTIONS_FILE, iter_questions(seed, documents))
    districts = documents // DOCUMENTS_PER_DISTRICT
    for name, variant in VARIANTS.items() if sets else ():
        with waiting(f"Writing {name}", documents / 10_000):
            _write(destination / name, form, iter_variant_documents(variant, seed, districts))
            questions = iter_variant_questions(variant, seed, districts)
            write_questions(destination / name / QUESTIONS_FILE, questions)
    click.echo(destination)


def _write(folder: Path, form: str, documents: Iterator[Document]) -> None:
    if form == "folder":
        write_markdown(folder / DOCUMENTS_FOLDER, documents)
    else:
        write_documents(folder / DOCUMENTS_FILE, documents)


def _counted(documents: Iterator[Document], progress: Progress) -> Iterator[Document]:
    for document in documents:
        yield document
        progress.advance()
