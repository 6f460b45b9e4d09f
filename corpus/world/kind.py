"""What a kind of subject brings: how it is named, what can be known of it, and how documents speak of it.

Templates name their slots in braces. Every template may use {it} (the subject as a sentence names it), {town} and
{island}; a statement also has {value}; a kind's `subject` may add slots of its own, such as a ship's {rig}.
A sentence's first letter is raised when it is written, so templates may begin with {it}.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from corpus.world.values import Person, Space


@dataclass(frozen=True)
class Relation:
    """Something that can be known of every subject of a kind."""

    name: str
    space: Space | Person
    statements: tuple[str, ...]
    """Sentences that state the fact and need nothing before them to be understood."""
    training: tuple[str, ...]
    """Wordings of the question from which the training wordings are dealt."""
    test: tuple[str, ...]
    """Wordings for the test questions. No wording stands in both."""


@dataclass(frozen=True)
class Style:
    """A way of writing: titles, openings, endings and the colour between the facts.

    Colour holds no number, date, name or thing that could be taken for an answer.
    """

    name: str
    authority: int
    """5: law. 4: registers and minutes. 3: almanac. 2: guide-book and newspaper. 1: letters. 0: hearsay."""
    titles: tuple[str, ...]
    openings: tuple[str, ...]
    colours: tuple[str, ...]
    endings: tuple[str, ...]
    statements: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """`kind.relation` to statements in this style's own voice, taken instead of the relation's."""


@dataclass(frozen=True)
class Subject:
    """Someone or something that facts are about."""

    it: str
    slots: Mapping[str, str] = field(default_factory=dict)
    """What templates may name. A kind gives its own slots; the world adds {it}, {town} and {island}."""


class Draw(Protocol):
    """What a kind draws a subject's name from, for one district of one world."""

    town: str

    def proper_name(self) -> str:
        """Return a family-like name that nothing else in the world bears."""
        ...

    def pick(self, slot: str, options: tuple[str, ...]) -> str:
        """Return one of the options; each is returned once before any comes again."""
        ...

    def pair(self, template: str, firsts: tuple[str, ...], seconds: tuple[str, ...]) -> str:
        """Fill {first} and {second}; once every pair is used, the town is added to keep the name unique."""
        ...


@dataclass(frozen=True)
class Kind:
    """One kind of subject: a ship, an inn, a by-law."""

    name: str
    subject: Callable[[Draw], Subject]
    relations: tuple[Relation, ...]
    styles: tuple[Style, ...]
