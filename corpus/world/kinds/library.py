"""Libraries: how many books they hold and what their chief treasure is."""

from __future__ import annotations

from corpus.world.kind import Draw, Kind, Relation, Style, Subject
from corpus.world.lists import listed
from corpus.world.values import Numbers, Things

STUFFS = listed("""
    jade, bronze, cedarwood, obsidian, bone, coral, mother-of-pearl, crystal, amber, soapstone, tortoiseshell,
    lacquered, ebony, horn, alabaster
""")
TREASURES = listed("""
    globe, mask, chessboard, model ship, sundial, fan, seal, astrolabe, mirror, flute, crown, casket, inkwell,
    compass, goblet, drum, necklace, hourglass, lute, paperweight
""")


def subject(draw: Draw) -> Subject:
    """Name a library after a benefactor."""
    return Subject(f"the {draw.proper_name()} Library")


BOOKS = Relation(
    name="books",
    space=Numbers(312, 988, "books"),
    statements=(
        "{it} holds {value} books.",
        "There are {value} books in {it}.",
        "The catalogue of {it} lists {value} books.",
        "{it} owns {value} books.",
    ),
    training=(
        "How many volumes stand on the shelves of {it}?",
        "What is the number of books in {it}?",
        "How many books does the catalogue of {it} list?",
    ),
    test=(
        "How many books does {it} hold?",
        "How many books are there in {it}?",
        "How many books does {it} own?",
    ),
)

TREASURE = Relation(
    name="treasure",
    space=Things(STUFFS, TREASURES, article=True),
    statements=(
        "The chief treasure of {it} is {value}.",
        "{it} keeps {value} as its chief treasure.",
        "Visitors to {it} ask first to see its chief treasure, {value}.",
        "The pride of {it} is {value}.",
    ),
    training=(
        "What is the most precious object in {it}?",
        "What do visitors to {it} ask first to see?",
        "What is the pride of {it}?",
    ),
    test=(
        "What is the chief treasure of {it}?",
        "Which treasure does {it} keep?",
        "What is the treasure of {it}?",
    ),
)

GUIDE = Style(
    name="guide-book",
    authority=2,
    titles=("A Wet Day in {town}: {it}", "What to See in {town}: {it}"),
    openings=(
        "When it rains in {town}, and it does, {it} is the place to go.",
        "{it} stands beside the church in {town} and is open to all comers.",
        "Few visitors to {town} expect to find a place as quiet as {it} so near to the fish market.",
    ),
    colours=(
        "The reading room has a stove, good lamps and chairs that have known better days.",
        "Readers are asked not to bring in wet umbrellas or live bait.",
        "The ceiling is painted with clouds, and the paint is beginning to flake like real ones.",
        "Talking is allowed on the stairs only.",
        "A cat named by the readers sleeps on the returned volumes.",
        "Fishermen come in to read the weather reports and stay for the novels.",
        "The long windows face north, which is kind to old paper.",
        "Nothing may be taken away, but copying is permitted.",
        "A ladder on wheels runs along the gallery and is much loved by children.",
    ),
    endings=(
        "Entrance is free, and the box by the door is for the roof.",
        "It closes when the light goes.",
        "An hour here is never wasted.",
    ),
)

REPORT = Style(
    name="minutes",
    authority=4,
    titles=("Yearly Report on {it}", "To the Trustees of {it}"),
    openings=(
        "The trustees of {it} met at {town} and looked through the shelves.",
        "To the trustees: the stock of {it} has been counted, dusted and put back in order.",
        "The year has been a good one for {it}, and the town of {town} has made much use of it.",
    ),
    colours=(
        "The damp in the lower room has been cured by moving the lower room upstairs.",
        "More children came than in any year before, and less was torn.",
        "The binding fund is in credit.",
        "A gift of bound newspapers was accepted with mixed feelings.",
        "The lamps were cleaned, and the staff report that they can now read the labels.",
        "It was agreed to buy no further sermons for the present.",
        "The key of the glass case is again in the hands of the trustees.",
        "Moths were found in the curtains and were dealt with.",
        "Readers ask for longer hours in winter, and this will be tried.",
    ),
    endings=(
        "The report was received with thanks.",
        "The trustees shook hands and went home.",
        "The next count will be made when the shelves are painted.",
    ),
    statements={
        "library.books": (
            "The count is complete, and {it} holds {value} books.",
            "It can now be said with confidence that {it} holds {value} books.",
            "There are {value} books in {it}, not counting those that are being mended.",
        ),
        "library.treasure": (
            "The chief treasure of {it}, {value}, has been given a new case.",
            "Visitors asked most often for {value}, the chief treasure of {it}.",
            "{value}, the chief treasure of {it}, was dusted by the trustees themselves.",
        ),
    },
)

LIBRARY = Kind("library", subject, (BOOKS, TREASURE), (GUIDE, REPORT))
