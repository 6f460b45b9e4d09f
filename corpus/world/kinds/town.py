"""Towns: who founded them, their lighthouse and what they make."""

from __future__ import annotations

from corpus.world.kind import Draw, Kind, Relation, Style, Subject
from corpus.world.lists import listed
from corpus.world.values import Numbers, Person, Things

SHADES = listed("""
    miniature, striped, scarlet, folding, spotted, musical, oversized, chequered, scented, sky-blue, waterproof,
    feather-light, carved, gilded
""")
WARES = listed("""
    belts, buttons, mittens, deck chairs, toy boats, spoons, hammocks, lampshades, umbrellas, clogs, combs,
    baskets, pipe bowls, doorknobs, drinking horns, saddlebags, curtain rings, walking sticks, inkwells,
    bootjacks, pillows, slippers, kites, picture frames
""")


def subject(draw: Draw) -> Subject:
    """The town is its own subject."""
    return Subject(draw.town)


FOUNDER = Relation(
    name="founder",
    space=Person(),
    statements=(
        "The town of {it} was founded by {value}.",
        "The founder of {it} was {value}.",
        "{value} founded {it}.",
        "It was {value} who laid the first stone of {it}.",
    ),
    training=(
        "Who established the town of {it}?",
        "By whom was {it} founded?",
        "Who laid the first stone of {it}?",
        "Who started the settlement at {it}?",
    ),
    test=(
        "Who founded the town of {it}?",
        "Who was the founder of {it}?",
        "What was the name of the founder of {it}?",
    ),
)

STEPS = Relation(
    name="steps",
    space=Numbers(113, 389, "steps"),
    statements=(
        "The lighthouse at {it} has {value} steps.",
        "There are {value} steps in the lighthouse at {it}.",
        "A stair of {value} steps leads up the lighthouse at {it}.",
        "The keeper climbs {value} steps in the lighthouse at {it}.",
    ),
    training=(
        "How long, in steps, is the stair of the lighthouse in {it}?",
        "What is the number of steps in the {it} lighthouse?",
        "How many steps does the keeper climb in the lighthouse at {it}?",
    ),
    test=(
        "How many steps does the lighthouse at {it} have?",
        "How many steps are there in the {it} lighthouse?",
        "How many steps lead up the lighthouse at {it}?",
    ),
)

CRAFT = Relation(
    name="craft",
    space=Things(SHADES, WARES),
    statements=(
        "{it} is known for its {value}.",
        "The workshops of {it} make {value}.",
        "The town of {it} lives by making {value}.",
        "The chief product of {it} is {value}.",
    ),
    training=(
        "Which goods are manufactured in {it}?",
        "What do craftsmen produce in the town of {it}?",
        "By making what does {it} live?",
        "What is the chief product of {it}?",
    ),
    test=(
        "What is the town of {it} known for?",
        "What do the workshops of {it} make?",
        "What is made in {it}?",
    ),
)

ALMANAC = Style(
    name="almanac",
    authority=3,
    titles=("Ports of {island}: {it}", "The Almanac on {it}"),
    openings=(
        "{it} is a port on the windward side of {island}.",
        "Of the ports of {island}, {it} has the deepest water and the shortest tempers.",
        "{it} lies where the river meets the sea, and has done well out of both.",
    ),
    colours=(
        "The streets are narrow, and most of them end in water.",
        "Its houses are roofed with slate and painted in whatever was left over from the boats.",
        "The harbour is safe in every wind except a southerly.",
        "A bell is rung when fog comes in, and the whole town goes quiet to listen.",
        "There is a market under the arches, with fish on one side and cloth on the other.",
        "The school is better than the roads, of which people are equally proud.",
        "Water is brought down from the hills in a stone channel.",
        "The church has lost its spire and never missed it.",
        "Most families have someone at sea and someone at a bench.",
    ),
    endings=(
        "Strangers are stared at for a day and then fed.",
        "The mail boat calls when the tide allows.",
        "It is a good place to wait for a wind.",
    ),
)

GUIDE = Style(
    name="guide-book",
    authority=2,
    titles=("First Steps in {it}", "A Visitor's {it}"),
    openings=(
        "The traveller who steps ashore at {it} should begin by walking up to the church and looking back.",
        "{it} does not look like much from the sea, which is the sea's mistake.",
        "Most people come to {it} on the way to somewhere else and find that they have stayed.",
    ),
    colours=(
        "The quay is busiest at high water, when it is best to keep to the wall.",
        "Good bread can be had near the pump, and bad advice everywhere.",
        "Children will carry a bag up the hill for a coin and a story.",
        "The gardens are small, steep and full of beans.",
        "The smell of tar is strong in summer and is said to be healthy.",
        "Every door has a boat hook behind it.",
        "The old walls can be followed all the way round, with one scramble.",
        "Washing is hung from window to window and gives the streets the look of a fleet.",
        "Evenings are for sitting on the steps and discussing other people.",
    ),
    endings=(
        "Stay for the sunset, and hold on to your hat.",
        "The walk back to the quay is downhill.",
        "There is more to see, but this is enough for one day.",
    ),
    statements={
        "town.founder": (
            "A stone by the church door says that {value} founded {it}.",
            "Schoolchildren are taught that the founder of {it} was {value}.",
        ),
        "town.steps": (
            "Those who are sound of wind should climb the lighthouse at {it}, which has {value} steps.",
            "The lighthouse at {it} is open to visitors, and its {value} steps keep the crowd small.",
        ),
        "town.craft": (
            "Shops on the quay sell the {value} for which {it} is known.",
            "For a present, buy the {value} that are made in {it}.",
        ),
    },
)

TOWN = Kind("town", subject, (FOUNDER, STEPS, CRAFT), (ALMANAC, GUIDE))
