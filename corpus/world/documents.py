"""Documents of a district, written from its facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from corpus.schema import Document
from corpus.world.digest import DIGESTS, Digest
from corpus.world.kind import Kind, Style
from corpus.world.kinds import KINDS
from corpus.world.world import District, Fact, World, slug

DOCUMENTS_PER_DISTRICT = len(KINDS) + len(DIGESTS)

FIRST_DAY = date(1870, 1, 1)
"""All facts lie before this day; documents about a single subject follow within five years."""

FIVE_YEARS = 5 * 365

LAYOUTS = {
    1: ("OCFC|CE", "OC|FCCE", "OCCF|CE"),
    2: ("OFC|CFCE", "OCF|CFCE", "OF|CCFCE", "OFCC|FCE"),
    3: ("OFC|FCFE", "OF|CFCFE", "OCF|FCFE", "OFCF|CFE"),
}
"""Orders of opening, facts, colour and ending for so many facts; a bar begins a new paragraph."""


@dataclass(frozen=True)
class Page:
    """A document with the facts that it states."""

    document: Document
    facts: tuple[Fact, ...]


def pages(world: World, district: District) -> Iterator[Page]:
    """Write the documents of a district: one for each subject, then the digests."""
    facts = {(fact.kind.name, fact.relation.name): fact for fact in district.facts}
    for kind in KINDS:
        yield subject_page(world, district, kind, [facts[kind.name, relation.name] for relation in kind.relations])
    for digest in DIGESTS:
        yield digest_page(world, district, digest, [facts[key] for key in digest.facts])


def subject_page(world: World, district: District, kind: Kind, facts: list[Fact]) -> Page:
    """Write the document about one subject from these facts about it."""
    turn, chosen = divmod(district.index + KINDS.index(kind), len(kind.styles))
    style = kind.styles[chosen]
    subject = district.subjects[kind.name]
    day = world.order(f"{kind.name}/effective", FIVE_YEARS)[district.index]
    key = f"{kind.name}/{style.name}"
    title, text = compose(world, style, key, turn, slots=subject.slots, told=told(world, facts, style, key, turn))
    document = Document(
        id=f"{slug(district.town)}/{kind.name}-{slug(subject.it.removeprefix('the '))}.md",
        text=text,
        title=title,
        effective=FIRST_DAY + timedelta(days=day),
        authority=style.authority,
        metadata={"style": style.name},
    )
    return Page(document, tuple(facts))


def digest_page(world: World, district: District, digest: Digest, facts: list[Fact]) -> Page:
    """Write a document that tells these facts of a district together."""
    slots = {"town": district.town, "island": world.island}
    day = world.order(f"{digest.name}/effective", FIVE_YEARS)[district.index]
    sentences = told(world, facts, digest.style, digest.name, district.index)
    title, text = compose(world, digest.style, digest.name, district.index, slots=slots, told=sentences)
    document = Document(
        id=f"{slug(district.town)}/{digest.name}.md",
        text=text,
        title=title,
        effective=FIRST_DAY + timedelta(days=FIVE_YEARS + day),
        authority=digest.style.authority,
        metadata={"style": digest.style.name},
    )
    return Page(document, tuple(facts))


def told(world: World, facts: list[Fact], style: Style, key: str, turn: int) -> list[str]:
    """Write one sentence for each fact, in the style's own voice where it has one, dealt by `key` and `turn`."""
    sentences = []
    for fact in facts:
        relation = f"{fact.kind.name}.{fact.relation.name}"
        own = style.statements.get(relation)
        template = world.deal(f"{relation}/{key if own else 'statement'}", own or fact.relation.statements, turn)
        sentences.append(raised(template.format(value=fact.value.phrase, **fact.subject.slots)))
    return sentences


def compose(
    world: World, style: Style, key: str, turn: int, *, slots: Mapping[str, str], told: list[str]
) -> tuple[str, str]:
    """Write a title and a text: an opening, the sentences about the facts with colour between them, and an ending.

    Templates are dealt by `key` and `turn`, so neighbouring districts do not share a sentence.
    """
    layout = world.deal(f"{key}/layout", LAYOUTS[len(told)], turn)
    sentences = {
        "O": [world.deal(f"{key}/opening", style.openings, turn)],
        "C": world.deal_hand(f"{key}/colour", style.colours, turn, layout.count("C")),
        "E": [world.deal(f"{key}/ending", style.endings, turn)],
    }
    written = {part: iter([raised(one.format_map(slots)) for one in some]) for part, some in sentences.items()}
    written["F"] = iter(told)
    paragraphs = [" ".join(next(written[part]) for part in paragraph) for paragraph in layout.split("|")]
    return raised(world.deal(f"{key}/title", style.titles, turn).format_map(slots)), "\n\n".join(paragraphs)


def raised(sentence: str) -> str:
    """Return a sentence with its first letter in upper case."""
    return sentence[:1].upper() + sentence[1:]
