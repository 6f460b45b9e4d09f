"""Inns: their keeper, their beds and the dish they are known for."""

from __future__ import annotations

from corpus.world.kind import Draw, Kind, Relation, Style, Subject
from corpus.world.lists import listed
from corpus.world.values import Numbers, Person, Things

COLOURS = listed("""
    Copper, Speckled, Silver, Painted, Drowsy, Scarlet, Iron, Crooked, Laughing, Golden, Hungry, Velvet, Wooden,
    Dappled, Sleeping, Brass, Spotted, Russet, Thirsty, Whistling, Gilded, Limping, Striped, Azure, Dancing,
    Rusty, Tawny, Ivory, Bashful, Leaden
""")
ANIMALS = listed("""
    Heron, Badger, Otter, Lantern-Fish, Magpie, Ram, Gander, Pike, Hare, Bullock, Cormorant, Weasel, Donkey,
    Lapwing, Stag, Toad, Puffin, Mastiff, Curlew, Sturgeon, Hedgehog, Raven, Lobster, Seal, Goat, Partridge,
    Bittern, Salmon, Ferret
""")
PREPARATIONS = listed("""
    smoked, peppered, spiced, buttered, honeyed, minted, gingered, twice-baked, sherried, sweet-and-sour,
    garlicky, salted, peat-fired
""")
DISHES = listed("""
    eel pie, crab soup, leek tart, oyster stew, mutton pudding, duck pasty, hare terrine, cod dumplings, parsnip
    hash, mussel broth, whelk chowder, lentil pottage, pigeon pie, cabbage rolls, sprat fritters, beetroot soup,
    goose sausage, mushroom pudding, trout pasty, barley stew
""")


def subject(draw: Draw) -> Subject:
    """Name an inn."""
    return Subject(draw.pair("the {first} {second}", COLOURS, ANIMALS))


KEEPER = Relation(
    name="keeper",
    space=Person(),
    statements=(
        "{it} is kept by {value}.",
        "The keeper of {it} is {value}.",
        "{value} keeps {it}.",
        "Guests at {it} are welcomed by {value}, who keeps the house.",
    ),
    training=(
        "Who runs the inn called {it}?",
        "What is the name of the innkeeper at {it}?",
        "By whom is {it} kept?",
        "Who welcomes guests at {it}?",
    ),
    test=(
        "Who is the keeper of {it}?",
        "Who keeps {it}?",
        "Which person keeps the inn {it}?",
    ),
)

BEDS = Relation(
    name="beds",
    space=Numbers(13, 97, "beds"),
    statements=(
        "{it} has {value} beds.",
        "There are {value} beds at {it}.",
        "Travellers will find {value} beds at {it}.",
        "{it} can offer its guests {value} beds.",
    ),
    training=(
        "How large is the inn {it}, counted in beds?",
        "What is the number of beds at {it}?",
        "How many beds will travellers find at {it}?",
        "How many beds can {it} offer its guests?",
    ),
    test=(
        "How many beds does {it} have?",
        "How many beds are there at {it}?",
        "How many beds are there in the inn {it}?",
    ),
)

DISH = Relation(
    name="dish",
    space=Things(PREPARATIONS, DISHES),
    statements=(
        "{it} is known for its {value}.",
        "The best dish at {it} is the {value}.",
        "The kitchen of {it} is famous for its {value}.",
        "Most guests come to {it} for the {value}.",
    ),
    training=(
        "What is the speciality of the house at {it}?",
        "For which food do people praise {it}?",
        "Which dish has made the kitchen of {it} famous?",
        "What do most guests come to {it} for?",
    ),
    test=(
        "What dish is {it} known for?",
        "What is the best dish at {it}?",
        "What is the best-known dish of the inn {it}?",
    ),
)

GUIDE = Style(
    name="guide-book",
    authority=2,
    titles=("Where to Stay: {it}", "Inns of {town}: {it}"),
    openings=(
        "Travellers who come to {town} by the coast road reach {it} first, and many go no further.",
        "Of the inns in {town}, {it} is the one that carters recommend to their friends.",
        "{it} stands at the top of the market street in {town}, with its back to the wind.",
    ),
    colours=(
        "The windows look over the harbour, and the front rooms catch the morning sun.",
        "A fire is lit in the parlour from the first frost until late in spring.",
        "The stairs are steep, so anyone with a bad knee should ask for a lower room.",
        "Dogs are welcome in the yard but not in the parlour.",
        "The stable is dry, and the ostler is honest.",
        "Sailors sing in the taproom on most evenings, and some of them sing well.",
        "The sign was painted by a ship's carpenter and is older than the roof.",
        "Bring a candle of your own if you mean to read late.",
        "The walls are thick enough to keep out the worst of the wind.",
    ),
    endings=(
        "It is an honest house, and we recommend it.",
        "Write ahead in the fishing season, when every inn on the coast is full.",
        "We stayed longer than we had planned and were sorry to go.",
    ),
)

LETTER = Style(
    name="letter",
    authority=1,
    titles=("A Letter from {it}", "Written from an Inn at {town}"),
    openings=(
        "Dear sister, you asked me where to stay when you come to {town}, and now I can tell you.",
        "My dear aunt, I am writing this from {it} while the rain beats on the glass.",
        "Dear cousin, our coach was late into {town}, and we were glad to see the lamp over the door of {it}.",
    ),
    colours=(
        "My room looks out on the masts in the harbour, and the sheets smell of lavender.",
        "A cat slept on my coat all evening and would not be moved.",
        "There is a fiddler in the taproom who never seems to tire.",
        "The boots that I had soaked on the road were dry by the next day.",
        "I have a table by the window, where I can write in peace.",
        "Nobody asked us our business, which I count as a kindness.",
        "The rain has not let up, but I find that I do not mind.",
        "Please tell Father that the road is better than he feared.",
        "We had meant to leave at dawn, and at noon we were still by the fire.",
    ),
    endings=(
        "Write soon, and give my love to everyone at home.",
        "I shall post this with the morning carrier and hope that it finds you well.",
        "I remain your affectionate and at last quite dry correspondent.",
    ),
    statements={
        "inn.keeper": (
            "{it} is kept by {value}, who has asked to be remembered to you.",
            "The keeper of {it} is {value}, and a kinder soul I never met.",
        ),
        "inn.beds": (
            "There are {value} beds at {it}, and tonight every one of them is taken.",
            "I counted, since you will ask: {it} has {value} beds.",
        ),
        "inn.dish": (
            "At supper I tried the {value} for which {it} is known.",
            "If you ever come to {it}, have the {value}, which is the best dish here.",
        ),
    },
)

INN = Kind("inn", subject, (KEEPER, BEDS, DISH), (GUIDE, LETTER))
