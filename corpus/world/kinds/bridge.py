"""Bridges: their builder, the year they were opened and their toll."""

from __future__ import annotations

from corpus.world.kind import Draw, Kind, Relation, Style, Subject
from corpus.world.lists import listed
from corpus.world.values import Numbers, Person, Years

WORDS = listed("""
    Lantern, Drover, Thistle, Candle, Miller, Cuckoo, Pilgrim, Saddle, Barley, Anchor, Bramble, Kettle, Feather,
    Willow, Shepherd, Goose, Orchard, Fiddler, Hazel, Needle, Juniper, Plover, Beggar, Clover, Chapel, Ferry,
    Piper, Rowan, Wherry, Acorn
""")
SORTS = ("Bridge", "Causeway", "Crossing", "Viaduct")


def subject(draw: Draw) -> Subject:
    """Name a bridge."""
    return Subject(draw.pair("{first} {second}", WORDS, SORTS))


BUILDER = Relation(
    name="builder",
    space=Person(),
    statements=(
        "{it} was built by {value}.",
        "The builder of {it} was {value}.",
        "{value} designed and built {it}.",
        "The mason who built {it} was {value}.",
    ),
    training=(
        "Who was responsible for the construction of {it}?",
        "Whose work is {it}?",
        "By whom was {it} designed and built?",
        "Which mason raised {it}?",
    ),
    test=(
        "Who built {it}?",
        "Who was the builder of {it}?",
        "What is the name of the person who built {it}?",
    ),
)

OPENED = Relation(
    name="opened",
    space=Years(1741, 1839),
    statements=(
        "{it} was opened in {value}.",
        "{it} opened to traffic in {value}.",
        "People have crossed the water by {it} since {value}.",
        "The first cart went over {it} in {value}.",
    ),
    training=(
        "What year did {it} come into use?",
        "When did {it} open to traffic?",
        "Since when have people crossed the water by {it}?",
        "In what year did the first cart go over {it}?",
    ),
    test=(
        "In which year was {it} opened?",
        "When was {it} opened?",
        "In what year did {it} open?",
    ),
)

TOLL = Relation(
    name="toll",
    space=Numbers(13, 97, "pence", unit_in_phrase=True),
    statements=(
        "The toll for a loaded cart on {it} is {value}.",
        "A loaded cart pays {value} to cross {it}.",
        "It costs {value} to take a loaded cart over {it}.",
        "At {it} the toll for a loaded cart stands at {value}.",
    ),
    training=(
        "How many pence must a carter with a full load pay at {it}?",
        "What does it cost to take a loaded cart over {it}?",
        "What sum will I be charged at {it} for my loaded cart?",
    ),
    test=(
        "What is the toll for a loaded cart on {it}?",
        "How much does a loaded cart pay to cross {it}?",
        "How much is the toll at {it} for a loaded cart?",
    ),
)

GUIDE = Style(
    name="guide-book",
    authority=2,
    titles=("Crossing the Water: {it}", "{it}, with Notes for Carters"),
    openings=(
        "The road inland from {town} crosses the river by {it}, which deserves a halt.",
        "Nobody can visit {town} without crossing {it} at least once.",
        "{it} carries the coast road over the river just outside {town}.",
    ),
    colours=(
        "The stone is a warm grey and comes from a quarry up the valley.",
        "Swallows nest under the arches, and the arches are left alone for their sake.",
        "There are recesses in the parapet where walkers can stand aside for cattle.",
        "In flood the water comes almost to the crown of the arch, and people gather to watch.",
        "The best view is from the bank below the mill, late in the afternoon.",
        "Fishing from the parapet is allowed, though little is ever caught.",
        "The toll-house has a small garden, and its beans are the envy of the street.",
        "Walkers pass free of charge at all hours.",
        "A lamp hangs over the middle of the roadway and is lit every night of the year.",
    ),
    endings=(
        "Look for the mason's mark on the downstream side.",
        "On the far side the road divides, and both ways are pleasant.",
        "It is worth getting wet for.",
    ),
)

NEWSPAPER = Style(
    name="newspaper",
    authority=2,
    titles=("Repairs to {it}", "{it} Open Again"),
    openings=(
        "Carters will be glad to hear that the scaffolding has been taken down and that the road at {town} is clear.",
        "Work on {it} came to an end this week, and the road out of {town} is whole again.",
        "After a month of mud and detours, {it} can be crossed again.",
    ),
    colours=(
        "The masons have raked out the old joints and filled them with good mortar.",
        "A barge struck the western pier in the spring, and the scar can still be seen.",
        "During the works a ferry took passengers over, and nobody was drowned.",
        "The new railings are painted green, which some people like.",
        "The council has promised to sweep the gutters more often.",
        "Engineers from the mainland looked at the arches and praised them.",
        "The toll-house was given a new stove, to the relief of those who sit in it.",
        "Several old coins were found under the paving and handed to the school.",
        "A brass band led the first carts across and then played on for an hour.",
    ),
    endings=(
        "Drivers are asked to walk their horses until the mortar is hard.",
        "The bridge is lit at night, and complaints may be left at the toll-house.",
        "May it stand as long again.",
    ),
    statements={
        "bridge.builder": (
            "{value}, who built {it}, would hardly see the difference.",
            "The joints were as tight as on the day when {value}, the builder of {it}, left them.",
        ),
        "bridge.opened": (
            "{it} was opened in {value} and has seldom been shut since.",
            "It is a long time since {it} was opened in {value}.",
        ),
        "bridge.toll": (
            "The toll has not gone up: a loaded cart still pays {value} to cross {it}.",
            "As before, a loaded cart pays {value} at {it}.",
        ),
    },
)

BRIDGE = Kind("bridge", subject, (BUILDER, OPENED, TOLL), (GUIDE, NEWSPAPER))
