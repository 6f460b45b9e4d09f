"""Sets of documents that a consistent corpus lacks: updates, contradictions and duplicates.

Each set is written beside the corpus and not into it. Its questions have the ids of the corpus's own, and their
answers are what the set's documents say: by the id one finds what is true, what is new and what is rumour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

from corpus.schema import Document, Question
from corpus.world.documents import FIRST_DAY, FIVE_YEARS, Page, compose, subject_page, told
from corpus.world.kind import Kind
from corpus.world.kinds import KINDS
from corpus.world.questions import questions
from corpus.world.variant_styles import HEARSAY, NOTICE_OF_CHANGE
from corpus.world.world import AS_RUMOURED, AS_UPDATED, District, Fact, World, slug

UPDATED = {"ship": "master", "inn": "keeper", "guild": "fee", "bridge": "toll"}
"""Kind to the relation that changes. Only the subject's own document states it, so the update leaves no old copy."""

RUMOURED = {"town": "steps", "ship": "launched", "festival": "founder", "hill": "height"}
"""Kind to the relation on which hearsay differs from the corpus."""

COPIED = {"inn": "exact", "library": "exact", "ship": "near", "scholar": "near"}
"""Kind to the sort of copy that is made of the subject's document."""

Variant = Callable[[World, District], Iterator[Page]]


def updates(world: World, district: District) -> Iterator[Page]:
    """Write documents that replace others: one fact is new, the rest is repeated.

    Each comes at least five years later than the newest document of the corpus and names the one that it supersedes.
    """
    for number, (kind, relation) in enumerate(_chosen(UPDATED)):
        turn = district.index * len(UPDATED) + number
        facts = [_changed(world, fact, district, relation, AS_UPDATED) for fact in _facts(district, kind)]
        subject = district.subjects[kind.name]
        sentences = told(world, facts, NOTICE_OF_CHANGE, "update", district.index + 1)
        title, text = compose(world, NOTICE_OF_CHANGE, "update", turn, slots=subject.slots, told=sentences)
        day = world.order(f"{kind.name}/effective", FIVE_YEARS)[district.index]
        document = Document(
            id=f"{slug(district.town)}/update-{kind.name}.md",
            text=text,
            title=title,
            effective=FIRST_DAY + timedelta(days=3 * FIVE_YEARS + day),
            authority=NOTICE_OF_CHANGE.authority,
            supersedes=_own_page(world, district, kind).document.id,
            metadata={"style": NOTICE_OF_CHANGE.name},
        )
        yield Page(document, tuple(fact for fact in facts if fact.relation.name == relation))


def contradictions(world: World, district: District) -> Iterator[Page]:
    """Write hearsay: documents of no authority, some older and some newer than the corpus, with one fact wrong each."""
    for number, (kind, relation) in enumerate(_chosen(RUMOURED)):
        turn = district.index * len(RUMOURED) + number
        facts = [
            _changed(world, fact, district, relation, AS_RUMOURED)
            for fact in _facts(district, kind)
            if fact.relation.name == relation
        ]
        subject = district.subjects[kind.name]
        sentences = told(world, facts, HEARSAY, "hearsay", district.index + 2)
        title, text = compose(world, HEARSAY, "hearsay", turn, slots=subject.slots, told=sentences)
        source = _own_page(world, district, kind).document
        newer = (number + district.index) % 2 == 1
        day = world.order(f"{kind.name}/hearsay/effective", FIVE_YEARS)[district.index]
        document = Document(
            id=f"{slug(district.town)}/hearsay-{kind.name}.md",
            text=text,
            title=title,
            effective=FIRST_DAY + timedelta(days=(2 if newer else -1) * FIVE_YEARS + day),
            authority=HEARSAY.authority,
            metadata={"style": HEARSAY.name, "contradicts": source.id},
        )
        yield Page(document, tuple(facts))


def duplicates(world: World, district: District) -> Iterator[Page]:
    """Write copies of documents: exact ones, and near ones that lack a sentence and have another in its place."""
    for kind, sort in _chosen(COPIED):
        page = _own_page(world, district, kind)
        text = page.document.text
        if sort == "near":
            kept = text.replace("\n\n", " ").rpartition(". ")[0]
            text = f"Copied from the original by a careful hand. {kept}."
        document = page.document.model_copy(
            update={
                "id": f"{slug(district.town)}/copy-{kind.name}.md",
                "text": text,
                "metadata": {**page.document.metadata, "copy": sort, "copy_of": page.document.id},
            }
        )
        yield Page(document, page.facts)


VARIANTS: dict[str, Variant] = {"updates": updates, "contradictions": contradictions, "duplicates": duplicates}
"""Name of the set to what writes it for one district."""


def iter_variant_documents(variant: Variant, seed: int, districts: int) -> Iterator[Document]:
    """Yield the documents of a set, for the first districts of a world."""
    world = World(seed)
    for index in range(districts):
        for page in variant(world, world.district(index)):
            yield page.document


def iter_variant_questions(variant: Variant, seed: int, districts: int) -> Iterator[Question]:
    """Yield the questions of a set, answered as its documents answer them."""
    world = World(seed)
    for index in range(districts):
        for page in variant(world, world.district(index)):
            for fact in page.facts:
                yield from questions(world, fact, index, [page.document.id])


def _chosen(table: dict[str, str]) -> Iterator[tuple[Kind, str]]:
    return ((kind, table[kind.name]) for kind in KINDS if kind.name in table)


def _facts(district: District, kind: Kind) -> list[Fact]:
    return [fact for fact in district.facts if fact.kind is kind]


def _own_page(world: World, district: District, kind: Kind) -> Page:
    return subject_page(world, district, kind, _facts(district, kind))


def _changed(world: World, fact: Fact, district: District, relation: str, edition: int) -> Fact:
    if fact.relation.name != relation:
        return fact
    return replace(fact, value=world.value(fact.kind, fact.relation, district.index, edition))
