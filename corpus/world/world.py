"""One invented world: an island whose districts, and all that can be known of them, follow from a seed.

Nothing is remembered from one district to the next, so any district can be asked for by number and a world of a
million documents takes no more memory than a small one. Chance comes from `random.Random` seeded with text, which
gives the same numbers on every machine and under every hash seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus.world.first_names import MEN, WOMEN
from corpus.world.kind import Kind, Relation, Subject
from corpus.world.kinds import KINDS
from corpus.world.names import Order, family_names, island_name, town_names
from corpus.world.values import Person, Value, pair_at, person

EDITIONS = 3
"""A relation has this many values for one subject: as it is, as it will be after an update, as rumour has it."""

AS_IT_IS, AS_UPDATED, AS_RUMOURED = range(EDITIONS)

NAME_SLOTS = {
    key: slot
    for slot, key in enumerate(
        [kind.name for kind in KINDS]
        + [f"{kind.name}.{relation.name}" for kind in KINDS for relation in kind.relations]
    )
}
"""Everything that may need a family name, with its place among those of one district and edition."""


@dataclass(frozen=True)
class Fact:
    """One row of the table of facts: subject, relation, value."""

    id: str
    kind: Kind
    relation: Relation
    subject: Subject
    value: Value


@dataclass(frozen=True)
class District:
    """A town and its surroundings: one subject of each kind, and the facts about them."""

    index: int
    town: str
    subjects: dict[str, Subject]
    """Kind to subject."""
    facts: tuple[Fact, ...]


class World:
    """An island, from its seed."""

    def __init__(self, seed: int) -> None:
        """Name the island; districts are made when they are asked for."""
        self.seed = seed
        self.island = island_name(self._chance("island"))
        self._towns = town_names(self._chance("towns"))
        self._families = family_names(self._chance("families"))
        self._orders: dict[str, Order] = {}
        self._decks: dict[str, list[str]] = {}

    def district(self, index: int) -> District:
        """Return a district, for index >= 0."""
        town = self._towns[index]
        subjects = {kind.name: self._subject(kind, index, town) for kind in KINDS}
        facts = tuple(
            Fact(
                id=f"{slug(town)}.{kind.name}.{relation.name}",
                kind=kind,
                relation=relation,
                subject=subjects[kind.name],
                value=self.value(kind, relation, index),
            )
            for kind in KINDS
            for relation in kind.relations
        )
        return District(index, town, subjects, facts)

    def _subject(self, kind: Kind, index: int, town: str) -> Subject:
        subject = kind.subject(DistrictDraw(self, index, town, kind.name))
        return replace(subject, slots={**subject.slots, "it": subject.it, "town": town, "island": self.island})

    def value(self, kind: Kind, relation: Relation, index: int, edition: int = AS_IT_IS) -> Value:
        """Return the value of a relation in a district. Editions differ from one another."""
        key = f"{kind.name}.{relation.name}"
        position = index * EDITIONS + edition
        if isinstance(relation.space, Person):
            first_name = self.deal(key, WOMEN + MEN, position)
            return person(first_name, self.family_name(key, position))
        return relation.space.value(position, lambda part, size: self.order(f"{key}/{part}", size))

    def family_name(self, key: str, position: int) -> str:
        """Return the family name that one key has at one position, and no other key or position."""
        return self._families[position * len(NAME_SLOTS) + NAME_SLOTS[key]]

    def order(self, key: str, size: int) -> Order:
        """Return the scattered order that belongs to a key."""
        if key not in self._orders:
            self._orders[key] = Order(size, self._chance(key))
        return self._orders[key]

    def deal(self, key: str, options: Sequence[str], turn: int) -> str:
        """Return one option: over the turns each comes once, in an order that belongs to the key, then all again."""
        if key not in self._decks:
            deck = list(options)
            self._chance(key).shuffle(deck)
            self._decks[key] = deck
        deck = self._decks[key]
        return deck[turn % len(deck)]

    def deal_hand(self, key: str, options: Sequence[str], turn: int, count: int) -> list[str]:
        """Return `count` options, dealt as `deal` would in as many turns."""
        return [self.deal(key, options, turn * count + offset) for offset in range(count)]

    def _chance(self, key: str) -> random.Random:
        return random.Random(f"{self.seed}/{key}")


class DistrictDraw:
    """What one kind draws its subject's name from in one district."""

    def __init__(self, world: World, index: int, town: str, kind: str) -> None:
        """Draw for the kind of that name."""
        self.town = town
        self._world = world
        self._index = index
        self._kind = kind

    def proper_name(self) -> str:
        """Return a family-like name that nothing else in the world bears."""
        return self._world.family_name(self._kind, self._index * EDITIONS)

    def pick(self, slot: str, options: tuple[str, ...]) -> str:
        """Return one of the options; each is returned once before any comes again."""
        return self._world.deal(f"{self._kind}/{slot}", options, self._index)

    def pair(self, template: str, firsts: tuple[str, ...], seconds: tuple[str, ...]) -> str:
        """Fill {first} and {second}; once every pair is used, the town is added to keep the name unique."""
        first, second = pair_at(self._index, len(firsts), len(seconds))
        name = template.format(
            first=firsts[self._world.order(f"{self._kind}/first", len(firsts))[first]],
            second=seconds[self._world.order(f"{self._kind}/second", len(seconds))[second]],
        )
        return name if self._index < len(firsts) * len(seconds) else f"{name} of {self.town}"


def slug(name: str) -> str:
    """Return a name as it stands in a file name: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
