"""Scholars: their birth and what they invented."""

from __future__ import annotations

from datetime import date

from corpus.world.first_names import MEN, WOMEN
from corpus.world.kind import Draw, Kind, Relation, Style, Subject
from corpus.world.lists import listed
from corpus.world.values import Dates, Things

MANNERS = listed("""
    folding, floating, silent, clockwork, two-handed, steam-driven, portable, foot-operated, rotating,
    wind-powered, magnetic, telescopic, self-cleaning, spring-driven, double-ended, collapsible
""")
DEVICES = listed("""
    tide gauge, butter churn, music stand, fog whistle, potato peeler, candle trimmer, bookrest, net mender,
    rain gauge, cheese press, bed warmer, ladder hoist, seed drill, map case, organ bellows, pulley block,
    lobster trap, door latch, apple corer, wool comb, page turner, boot scraper
""")


def subject(draw: Draw) -> Subject:
    """Name a scholar, who is a man or a woman."""
    if draw.pick("sex", ("woman", "man")) == "woman":
        first_name, pronouns = draw.pick("woman", WOMEN), {"they": "she", "their": "her", "them": "her"}
    else:
        first_name, pronouns = draw.pick("man", MEN), {"they": "he", "their": "his", "them": "him"}
    return Subject(f"{first_name} {draw.proper_name()}", pronouns)


BORN = Relation(
    name="born",
    space=Dates(date(1771, 1, 1), date(1829, 12, 31)),
    statements=(
        "{it} was born on {value}.",
        "{it} was born in {town} on {value}.",
        "The parish book gives the birth of {it} as {value}.",
        "{it} came into the world on {value}.",
    ),
    training=(
        "On what date did the life of {it} begin?",
        "On which day did {it} come into the world?",
        "What birth date does the parish book give for {it}?",
    ),
    test=(
        "When was {it} born?",
        "What is the date of birth of {it}?",
        "On what day was {it} born?",
    ),
)

INVENTION = Relation(
    name="invention",
    space=Things(MANNERS, DEVICES),
    statements=(
        "{it} invented the {value}.",
        "{it} is remembered for inventing the {value}.",
        "The best-known invention of {it} is the {value}.",
        "It was {it} who invented the {value}.",
    ),
    training=(
        "Which device do we owe to {it}?",
        "What is {it} remembered for inventing?",
        "What device did {it} come up with?",
    ),
    test=(
        "What did {it} invent?",
        "What is the best-known invention of {it}?",
        "Which thing did {it} invent?",
    ),
)

ALMANAC = Style(
    name="almanac",
    authority=3,
    titles=("Notable People of {island}: {it}", "The Almanac on {it}"),
    openings=(
        "Every child in {town} learns the name of {it} before learning to write it.",
        "{it} is the only inventor from {town} whose work is used on the mainland.",
        "The workshop of {it} can still be seen in {town}, behind the chandler's.",
    ),
    colours=(
        "As a child {they} took clocks apart and, to the surprise of the family, put them together again.",
        "{they} worked alone, slept little and kept every drawing.",
        "The first model caught fire, and the second is still in use.",
        "{they} refused to take out a patent, saying that good ideas should walk about freely.",
        "A marble bust of {them} stands in the town hall, facing the window.",
        "{they} never learned to swim, although {they} lived all {their} life beside the sea.",
        "Pupils came from every part of {island} and were taught for nothing.",
        "{their} notebooks are full of sketches of birds.",
        "Neighbours complained of the hammering and were sorry when it stopped.",
    ),
    endings=(
        "A street in {town} now bears the name.",
        "{their} tools were left to the school and are used there every day.",
        "There is no portrait from life.",
    ),
)

NOTICE = Style(
    name="newspaper",
    authority=2,
    titles=("In Memory of {it}", "An Inventor of {town}: {it}"),
    openings=(
        "A tablet in memory of {it} was unveiled in {town} on Sunday.",
        "The school at {town} has been given a box of papers that belonged to {it}.",
        "It is time that {town} did something to honour {it}.",
    ),
    colours=(
        "There were speeches, and one of them was short.",
        "Former pupils came from far away and told stories about {their} temper.",
        "{they} was fond of strong tea and of weak puns.",
        "A neighbour recalled that the lamp in the workshop was often burning at dawn.",
        "{their} handwriting is so small that the notes must be read with a glass.",
        "{they} left a plan for a bridge to the mainland, which was never built.",
        "{they} mended the church clock every winter and would take no money for it.",
        "The schoolchildren had drawn pictures, some of which were kind.",
        "It was remembered that {they} could not pass a gate without oiling it.",
    ),
    endings=(
        "Those who wish to add to the fund may leave their gift at this office.",
        "The workshop may be seen on weekday afternoons.",
        "Few people have deserved it more.",
    ),
    statements={
        "scholar.born": (
            "{it} was born on {value}, in a house that is now a bakery.",
            "{it} was born on {value}, as the parish book records.",
            "The school register shows that {it} was born on {value}.",
        ),
        "scholar.invention": (
            "Everyone present owned or had owned the {value} that {it} invented.",
            "{it} invented the {value}, which has made many lives easier.",
            "It was {it} who invented the {value}, after many failures.",
        ),
    },
)

SCHOLAR = Kind("scholar", subject, (BORN, INVENTION), (ALMANAC, NOTICE))
