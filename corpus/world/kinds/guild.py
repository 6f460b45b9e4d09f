"""Guilds: their warden, their entrance fee and their emblem."""

from __future__ import annotations

from corpus.world.kind import Draw, Kind, Relation, Style, Subject
from corpus.world.lists import listed
from corpus.world.values import Numbers, Person, Things

TRADES = listed("""
    Ropemakers, Coopers, Chandlers, Sailmakers, Glaziers, Bookbinders, Weavers, Saddlers, Cutlers, Dyers,
    Masons, Bakers, Tilers, Potters, Tanners, Wheelwrights, Pewterers, Hatters, Basketmakers, Clockmakers,
    Caulkers, Farriers, Drapers, Locksmiths, Thatchers, Printers, Papermakers, Furriers, Carters, Bellfounders
""")
METALS = listed("""
    silver, brass, pewter, ebony, crimson, gilded, white, blue, iron, green, ivory, black, oaken, copper,
    scarlet, amber
""")
EMBLEMS = listed("""
    thimble, beehive, gauntlet, hourglass, acorn, wheelbarrow, candlestick, ladder, anvil, oyster shell, owl,
    trowel, hedgehog, spindle, mitten, whistle, compass, bucket, pinecone, drum, swan, kettle hook, tortoise,
    key ring, feather
""")


def subject(draw: Draw) -> Subject:
    """Name a guild after its town and trade."""
    return Subject(f"the {draw.town} {draw.pick('trade', TRADES)}' Guild")


WARDEN = Relation(
    name="warden",
    space=Person(),
    statements=(
        "The warden of {it} is {value}.",
        "{it} is led by its warden, {value}.",
        "{value} is warden of {it}.",
        "{value} holds the office of warden in {it}.",
    ),
    training=(
        "Who presides over {it}?",
        "By which warden is {it} led?",
        "Who holds the office of warden in {it}?",
        "Which person stands at the head of {it}?",
    ),
    test=(
        "Who is the warden of {it}?",
        "What is the name of the warden of {it}?",
        "Who leads {it} as its warden?",
    ),
)

FEE = Relation(
    name="fee",
    space=Numbers(13, 97, "crowns", unit_in_phrase=True),
    statements=(
        "The entrance fee of {it} is {value}.",
        "{it} charges new members {value}.",
        "It costs {value} to join {it}.",
        "A new member pays {value} to enter {it}.",
    ),
    training=(
        "What would I have to pay to become a member of {it}?",
        "How much does {it} charge new members?",
        "How expensive is membership of {it}?",
        "How much does a new member pay to enter {it}?",
    ),
    test=(
        "What is the entrance fee of {it}?",
        "How much does it cost to join {it}?",
        "How many crowns does it cost to join {it}?",
    ),
)

EMBLEM = Relation(
    name="emblem",
    space=Things(METALS, EMBLEMS, article=True),
    statements=(
        "The emblem of {it} is {value}.",
        "{it} has {value} for its emblem.",
        "The banner of {it} shows {value}.",
        "The members of {it} wear {value} as their emblem.",
    ),
    training=(
        "What symbol does {it} use?",
        "What does the banner of {it} show?",
        "What do the members of {it} wear as their emblem?",
        "Which object is the sign of {it}?",
    ),
    test=(
        "What is the emblem of {it}?",
        "Which emblem does {it} have?",
        "What is shown on the emblem of {it}?",
    ),
)

MINUTES = Style(
    name="minutes",
    authority=4,
    titles=("Minutes of {it}", "Annual Meeting of {it}"),
    openings=(
        "The members of {it} met in their hall at {town}, and the roll was called.",
        "At the yearly meeting of {it} the doors were closed and the rules were read aloud.",
        "The meeting was opened in the usual way, and new apprentices of {it} were shown to their seats.",
    ),
    colours=(
        "A motion to mend the roof of the hall was carried without debate.",
        "Several members complained of the draught from the east door.",
        "The accounts were read, found correct and signed.",
        "It was agreed that apprentices may no longer sleep in the workshop.",
        "A collection was taken for the families of members lost at sea.",
        "The steward was thanked for the new lamps in the stairwell.",
        "The question of foreign tools was put off to the next meeting, as it has been before.",
        "One member asked that the speeches be shorter, and was applauded.",
        "The old ledgers are to be dried, mended and kept upstairs in future.",
    ),
    endings=(
        "There being no other business, the meeting closed and supper was served.",
        "The clerk was told to write all this down fairly, and has done so.",
        "The meeting rose shortly before the lamps were lit.",
    ),
    statements={
        "guild.warden": (
            "{value}, the warden of {it}, took the chair.",
            "The warden of {it}, {value}, asked for silence and got it.",
        ),
        "guild.fee": (
            "It was resolved that the entrance fee of {it} shall stay at {value}.",
            "A new member of {it} was let in on payment of the entrance fee, which is {value}.",
        ),
        "guild.emblem": (
            "The painter was reminded that the emblem of {it} is {value}.",
            "A new banner was unrolled, with {value}, the emblem of {it}.",
        ),
    },
)

ALMANAC = Style(
    name="almanac",
    authority=3,
    titles=("Guilds of {island}: {it}", "The Almanac on {it}"),
    openings=(
        "Anyone who wants to work at the trade in {town} must sooner or later knock at the door of {it}.",
        "{it} is among the oldest bodies of its sort on {island}, and it is proud of the fact.",
        "The hall of {it} stands behind the market in {town} and can be known by its green shutters.",
    ),
    colours=(
        "Its members may sell their work on market days without paying for a stall.",
        "The guild looks after its widows and buries its dead.",
        "Strangers are allowed into the hall on feast days, if they wipe their feet.",
        "Apprentices serve until their master calls them fit, and not a day less.",
        "Work that fails inspection is broken up in the yard in front of the maker.",
        "The guild keeps its own fire engine and will lend it to the neighbours.",
        "Quarrels between members are settled in the hall and not in court.",
        "A choir of members sings at weddings, for the pleasure of it.",
        "No one can remember when the guild last turned away a good worker.",
    ),
    endings=(
        "Those who wish to know more should ask at the hall.",
        "The guild publishes nothing and answers every letter.",
        "Its reputation has reached the mainland.",
    ),
)

GUILD = Kind("guild", subject, (WARDEN, FEE, EMBLEM), (MINUTES, ALMANAC))
