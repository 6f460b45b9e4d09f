"""Festivals: their day, their prize and who founded them."""

from __future__ import annotations

from corpus.world.kind import Draw, Kind, Relation, Style, Subject
from corpus.world.lists import listed
from corpus.world.values import Days, Person, Things

OCCASIONS = listed("""
    Herring, Lantern, Kite, Mast, Pebble, Ribbon, Regatta, Beacon, Pumpkin, Net, Plough, Bonfire, Ladle, Stilt,
    Sheep, Bell, Barrel, Raft, Apple, Drum, Honey, Goose, Rope, Cheese, Candle, Snow, Gannet, Blossom, Wool,
    Pancake
""")
GATHERINGS = ("Fair", "Feast", "Revel", "Day", "Race", "Night")
STUFFS = listed("brass, silver, glass, pewter, ivory, copper, porcelain, enamel, tin, nickel, earthenware")
PRIZES = listed("""
    kettle, tobacco box, spyglass, inkstand, soup ladle, weathercock, coffee pot, birdcage, hand bell,
    barometer, punch bowl, snuff jar, teapot, egg cup, letter opener, clock, trumpet, fruit bowl, lamp, jewel
    box, milk jug
""")


def subject(draw: Draw) -> Subject:
    """Name a festival after its town."""
    occasion, gathering = draw.pick("occasion", OCCASIONS), draw.pick("gathering", GATHERINGS)
    return Subject(f"the {draw.town} {occasion} {gathering}")


DAY = Relation(
    name="day",
    space=Days(),
    statements=(
        "{it} is held on {value}.",
        "{it} falls on {value} each year.",
        "The day of {it} is {value}.",
        "Every year on {value} the town keeps {it}.",
    ),
    training=(
        "Which date should I mark in my diary for {it}?",
        "When does {it} fall each year?",
        "On which day does the town keep {it}?",
        "What day of the year is set aside for {it}?",
    ),
    test=(
        "When is {it} held?",
        "What is the date of {it}?",
        "On what day is {it} held?",
    ),
)

PRIZE = Relation(
    name="prize",
    space=Things(STUFFS, PRIZES, article=True),
    statements=(
        "The first prize at {it} is {value}.",
        "The winner at {it} takes home {value}.",
        "The prize given at {it} is {value}.",
        "At {it} the winner receives {value}.",
    ),
    training=(
        "What can I win at {it}?",
        "What does the winner at {it} take home?",
        "What is handed to the champion of {it}?",
        "What reward awaits the best competitor at {it}?",
    ),
    test=(
        "What is the first prize at {it}?",
        "What prize does the winner receive at {it}?",
        "What is the prize given at {it}?",
    ),
)

FOUNDER = Relation(
    name="founder",
    space=Person(),
    statements=(
        "{it} was founded by {value}.",
        "The founder of {it} was {value}.",
        "It was {value} who founded {it}.",
        "{value} started {it}.",
    ),
    training=(
        "Whose idea was {it}?",
        "Who first organised {it}?",
        "By whom was {it} started?",
        "To whom does the town owe {it}?",
    ),
    test=(
        "Who founded {it}?",
        "Who was the founder of {it}?",
        "What is the name of the person who founded {it}?",
    ),
)

ALMANAC = Style(
    name="almanac",
    authority=3,
    titles=("Feasts of {island}: {it}", "The Almanac on {it}"),
    openings=(
        "{it} is the day on which nobody in {town} does any work, apart from the cooks.",
        "Those who wish to see {town} at its best should come for {it}.",
        "{it} began as a quiet affair among neighbours and now fills every bed in {town}.",
    ),
    colours=(
        "Boats are dressed with flags, and the harbour is closed to trade.",
        "In the morning there is a procession, in which the oldest fisherman walks in front.",
        "Children wear paper hats and are allowed to stay up late.",
        "The contests are held on the green behind the church.",
        "Rain has never been known to stop it, though it has been tried.",
        "Musicians come over from the next valley and are paid in ale.",
        "The judges sit on a hay cart and may not be argued with.",
        "Dancing goes on until the last lamp has burned out.",
        "The bells are rung by anyone who asks, and the noise is considerable.",
    ),
    endings=(
        "Visitors are welcome and are advised to bring a coat.",
        "The next morning is spent in sweeping.",
        "There is nothing like it elsewhere on {island}.",
    ),
)

NEWSPAPER = Style(
    name="newspaper",
    authority=2,
    titles=("{it} This Year", "Looking Forward to {it}"),
    openings=(
        "The committee has met, the bunting has been aired, and {town} is getting ready for {it}.",
        "A good many letters about {it} have reached this office, and we answer them here together.",
        "The streets of {town} have been swept and the flagpoles painted for {it}.",
    ),
    colours=(
        "Stalls may be set up along the quay from sunrise.",
        "The committee asks that horses be left at the edge of town.",
        "Those who wish to compete should give in their names at the town hall.",
        "Last year a goat got into the tea tent, and steps have been taken.",
        "The school choir has been practising, as all of its neighbours can confirm.",
        "A stand will be put up for the elderly, with a canvas roof.",
        "The ferry will make extra crossings until after dark.",
        "The bakers have promised not to run out again.",
        "Lost children will be kept at the lifeboat house and given bread.",
    ),
    endings=(
        "All that is wanted now is fine weather.",
        "We shall print the results in full.",
        "Anyone who can lend a trestle table should speak to the committee.",
    ),
    statements={
        "festival.day": (
            "{it} will be held on {value}, as it is every year.",
            "Readers are reminded that {it} falls on {value}.",
            "The date of {it} is {value}, and it will not be moved.",
        ),
        "festival.prize": (
            "This year as ever, the winner at {it} takes home {value}.",
            "The first prize at {it} is {value}, which can be seen in the baker's window.",
            "Those who win at {it} receive {value}.",
        ),
        "festival.founder": (
            "Some of the oldest guests still speak of {value}, who founded {it}.",
            "A toast will be drunk to {value}, the founder of {it}.",
            "It was {value} who founded {it}, after losing a bet.",
        ),
    },
)

FESTIVAL = Kind("festival", subject, (DAY, PRIZE, FOUNDER), (ALMANAC, NEWSPAPER))
