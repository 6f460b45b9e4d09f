"""Corpora of an invented world, of any size: the same seed and size give the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

from corpus.errors import UsageError
from corpus.schema import Corpus, Document, Question
from corpus.world.documents import DOCUMENTS_PER_DISTRICT, Page, pages
from corpus.world.questions import questions
from corpus.world.world import District, World

SEED = 36
DOCUMENTS = 5 * DOCUMENTS_PER_DISTRICT


def iter_documents(seed: int, documents: int) -> Iterator[Document]:
    """Yield that many documents one by one; memory does not grow with their number."""
    world = World(seed)
    written = (page.document for index in count() for page in pages(world, world.district(index)))
    yield from islice(written, documents)


def iter_questions(seed: int, documents: int) -> Iterator[Question]:
    """Yield the questions that the first `documents` documents of a world answer, fact by fact."""
    world = World(seed)
    for index in range(-(-documents // DOCUMENTS_PER_DISTRICT)):
        district = world.district(index)
        kept = documents - index * DOCUMENTS_PER_DISTRICT
        yield from district_questions(world, district, list(islice(pages(world, district), kept)))


def district_questions(world: World, district: District, written: list[Page]) -> Iterator[Question]:
    """Yield the questions that these pages of a district answer."""
    for fact in district.facts:
        evidence = [page.document.id for page in written if fact in page.facts]
        if evidence:
            yield from questions(world, fact, district.index, evidence)


def world_corpus(seed: int = SEED, documents: int = DOCUMENTS) -> Corpus:
    """Return a corpus of an invented world.

    Args:
        seed: names the world; two seeds give two islands that have no fact in common.
        documents: at least 1. Fourteen documents tell one district, with 26 facts.
    """
    if documents < 1:
        raise UsageError(f"A world of {documents} documents cannot be written; ask for 1 or more.")
    name = World(seed).island.lower()
    return Corpus(
        name=name,
        documents=tuple(iter_documents(seed, documents)),
        questions=tuple(iter_questions(seed, documents)),
    )
