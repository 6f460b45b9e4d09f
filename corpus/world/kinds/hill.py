"""Hills: their height and who climbed them first."""

from __future__ import annotations

from corpus.world.kind import Draw, Kind, Relation, Style, Subject
from corpus.world.values import Numbers, Person

SORTS = ("Fell", "Tor", "Head", "Pike", "Beacon")


def subject(draw: Draw) -> Subject:
    """Name a hill."""
    return Subject(f"{draw.proper_name()} {draw.pick('sort', SORTS)}")


HEIGHT = Relation(
    name="height",
    space=Numbers(611, 989, "feet", unit_in_phrase=True),
    statements=(
        "{it} is {value} high.",
        "{it} rises {value} above the sea.",
        "The height of {it} is {value}.",
        "Surveyors put the height of {it} at {value}.",
    ),
    training=(
        "How tall is {it} in feet?",
        "How many feet above the water is the top of {it}?",
        "What elevation does {it} reach?",
        "At what figure do surveyors put the top of {it}?",
    ),
    test=(
        "How high is {it}?",
        "What is the height of {it}?",
        "How many feet high is {it}?",
    ),
)

CLIMBER = Relation(
    name="climber",
    space=Person(),
    statements=(
        "The first person to climb {it} was {value}.",
        "{it} was first climbed by {value}.",
        "{value} was the first to climb {it}.",
        "{value} made the first ascent of {it}.",
    ),
    training=(
        "Who reached the top of {it} before anyone else?",
        "By whom was {it} first climbed?",
        "Who made the first ascent of {it}?",
    ),
    test=(
        "Who was the first person to climb {it}?",
        "Who first climbed {it}?",
        "Which person was the first to climb {it}?",
    ),
)

GUIDE = Style(
    name="guide-book",
    authority=2,
    titles=("Walks from {town}: {it}", "The Ascent of {it}"),
    openings=(
        "The path to {it} leaves {town} by the mill and climbs through bracken.",
        "On a clear day {it} can be seen from every street in {town}.",
        "A strong walker can leave {town} after an early start and be on {it} by noon.",
    ),
    colours=(
        "The last part is steep and loose, and a stick is a comfort.",
        "Sheep keep the grass short near the top, where there is shelter behind a wall.",
        "From the cairn one sees the whole coast and, in good weather, the mainland.",
        "There is a spring half way up, and its water is cold even in August.",
        "Mist comes down without warning, so it is wise to go in company.",
        "Larks sing here until late in the year.",
        "The shepherds have a hut below the ridge and do not mind if walkers use it.",
        "Please close the gates, of which there are more than one would think.",
        "The descent by the north side is shorter but very wet.",
    ),
    endings=(
        "Allow the better part of a day, and carry something to eat.",
        "The view repays the effort.",
        "Nobody who has been up there in a gale forgets it.",
    ),
    statements={
        "hill.height": (
            "{it} is {value} high, and one feels every foot of it.",
            "At {value}, {it} is no giant, but it stands alone.",
            "{it} rises {value} above the sea.",
        ),
        "hill.climber": (
            "The first person to climb {it} was {value}, who did it in town shoes.",
            "A heap of stones recalls {value}, the first person to climb {it}.",
            "{value} was the first to climb {it} and left a walking stick at the top.",
        ),
    },
)

ALMANAC = Style(
    name="almanac",
    authority=3,
    titles=("Hills of {island}: {it}", "The Almanac on {it}"),
    openings=(
        "{it} stands inland from {town} and tells the town what weather it will have.",
        "Sailors bound for {town} look out for {it} long before they see the harbour.",
        "{it} is the hill that the people of {town} call simply the hill.",
    ),
    colours=(
        "Its top is bare rock, and heather grows on the lower slopes.",
        "A fire was lit on it in the old wars to warn the coast.",
        "Snow lies in its gullies long after the lambs are out.",
        "It is said that a bell is buried in it, but it is also said that the moon is cheese.",
        "Peregrines breed on the crags, and the eggs may not be taken.",
        "Quarrymen once cut millstones from its western face.",
        "The streams that rise there drive every mill in the valley.",
        "Grazing is shared between the farms below, and the shares are old and complicated.",
        "When its head is covered, fishermen stay in port.",
    ),
    endings=(
        "It is marked on every chart of the coast.",
        "The best season for a visit is early autumn.",
        "The right of way over it has never been disputed.",
    ),
)

HILL = Kind("hill", subject, (HEIGHT, CLIMBER), (GUIDE, ALMANAC))
