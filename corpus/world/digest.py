"""Documents about a whole district: each tells a few facts of different subjects, which their own documents tell too."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.world.kind import Style


@dataclass(frozen=True)
class Digest:
    """A style with the facts that it tells, as (kind, relation)."""

    name: str
    style: Style
    facts: tuple[tuple[str, str], ...]


COURANT = Digest(
    "courant",
    Style(
        name="newspaper",
        authority=2,
        titles=("The {town} Courant", "News of the Week from {town}", "Heard in {town}"),
        openings=(
            "It has been a quiet week in {town}, and so we print what there is.",
            "The editor thanks those readers of {town} who have sent in corrections, and offers the following.",
            "With the mail boat late again, the news from {town} is our own.",
            "Our correspondent has walked round {town} with a notebook and an umbrella.",
            "A reader in {town} has made a bet with his brother, and asks us to settle it.",
        ),
        colours=(
            "The weather has been much discussed and not at all improved.",
            "A wheel came off the baker's cart on the hill, and the loaves were returned by honest neighbours.",
            "The pump in the market is working again.",
            "A large crab was seen on the church steps and was asked to leave.",
            "The evening class in navigation still has seats for beginners.",
            "Several umbrellas have been left at this office and may be claimed.",
            "The swallows are back, and so are the tax collectors.",
            "Paint is wet on the harbour railings, as the mayor has found.",
            "The lost purse was found in the owner's other coat.",
            "Subscribers who move house are asked to tell us where to.",
            "A concert for the lifeboat raised a handsome sum and woke the baby.",
        ),
        endings=(
            "Further news is expected when something happens.",
            "Corrections are welcome, if they are civil.",
            "The crossword has been left out for want of space.",
            "Advertisements should reach us before the weekend.",
            "The tide table hangs in our window as usual.",
        ),
    ),
    (("ship", "cargo"), ("guild", "warden"), ("library", "books")),
)

LETTER = Digest(
    "letter-home",
    Style(
        name="letter",
        authority=1,
        titles=("A Letter Home from {town}", "To a Friend, from {town}", "A Traveller's Letter from {town}"),
        openings=(
            "Dear Mother, I have been in {town} for a while now and have collected everything that you wanted to know.",
            "My dear friend, you asked for facts about {town} and not for scenery, so here are facts.",
            "Dear brother, {town} is all that you said of it, and there is more.",
            "Dearest grandmother, I promised to tell you about {town} before my boots wore out.",
            "Dear old friend, I write from {town} with a borrowed pen and cold fingers.",
        ),
        colours=(
            "I have learned to walk with my head down and my hat in my hand.",
            "The people here are slow to speak and quick to help.",
            "Yesterday I was taken for a tax collector and had to buy drinks for everyone.",
            "I sketch in the mornings, when the light is good and nobody looks over my shoulder.",
            "My landlady has decided that I am too thin.",
            "The gulls wake me before the bells do.",
            "I have bought you a present, which is heavy, and which I already regret.",
            "It rained on the way up, and then the clouds opened and I forgave everything.",
            "Nobody here has heard of our town, which does one good.",
            "I am brown as a nut and have mended my own stockings.",
            "Please keep my letters, since I have given up on the diary.",
        ),
        endings=(
            "I must stop, because the mail boat is blowing its whistle.",
            "Kiss the little ones for me.",
            "I shall be home before the leaves are down.",
            "Do write, and put in a few pages of the newspaper.",
            "Your loving and muddy correspondent.",
        ),
    ),
    (("inn", "dish"), ("festival", "day"), ("hill", "height")),
)

WALK = Digest(
    "a-days-walk",
    Style(
        name="guide-book",
        authority=2,
        titles=("A Day's Walk in {town}", "{town} on Foot", "{town} in a Day"),
        openings=(
            "A day is enough to see {town}, if the shoes are good.",
            "The walk described here begins at the quay of {town} and ends there too.",
            "We suggest that visitors to {town} leave their bags at the harbour and follow their noses.",
            "This walk takes in the sights of {town} in the order in which they come.",
            "Whoever has only a day for {town} should use it as follows.",
        ),
        colours=(
            "Keep the sea on your left hand until the path turns inland.",
            "There is a bench at the corner, put there by a grateful invalid.",
            "The lane is muddy after rain and charming at all times.",
            "Here one should turn round and look back at the roofs.",
            "A boy will offer to show the way, and it is quicker to let him.",
            "The short cut through the churchyard is allowed by daylight.",
            "Tea is sold from a window in the next street.",
            "Mind the geese.",
            "From here the path goes down between garden walls.",
            "The wall on the right is older than anyone can say.",
            "Artists set up their easels here and get in the way of carts.",
        ),
        endings=(
            "The lamplighter will be starting his round as you come back to the quay.",
            "By now it will be time for supper.",
            "Those with strength left may do it all again in the other direction.",
            "The last coach leaves from the market cross.",
            "Sore feet may be bathed in the stream.",
        ),
    ),
    (("town", "steps"), ("bridge", "builder"), ("library", "treasure")),
)

COUNCIL = Digest(
    "council-minutes",
    Style(
        name="minutes",
        authority=4,
        titles=("Minutes of the {town} Council", "The {town} Council in Session", "A Sitting of the {town} Council"),
        openings=(
            "The council of {town} met in the upper room, and the clerk read the minutes of the last sitting.",
            "Present at the sitting of the {town} council were the mayor, the clerk and enough members to decide things.",
            "The council of {town} sat with the windows open and dealt with the business below.",
            "The clerk of {town} was asked for information on several matters and gave it.",
            "The sitting of the {town} council was called to order after the stove had been lit.",
        ),
        colours=(
            "A petition about the smell from the tannery was received and sniffed at.",
            "The mayor asked members to keep their boots off the benches.",
            "It was resolved to buy a new rope for the harbour bell.",
            "A proposal to move the market was defeated, as in other years.",
            "The harbour dredger is again under repair.",
            "A letter of thanks from the lifeboat crew was read out and put in a frame.",
            "Members disagreed about the colour of the town hall door.",
            "The account for coal was queried and then paid.",
            "The school asked for chalk and was granted it.",
            "Complaints about the town clock will be answered when it strikes.",
            "The poor box was opened and its contents handed to the parish nurse.",
        ),
        endings=(
            "The sitting then closed.",
            "The next sitting will be held when the mayor returns.",
            "The clerk signed these minutes, and the mayor sealed them.",
            "No vote was taken, and everyone went home satisfied.",
            "The public gallery was cleared and the lamps put out.",
        ),
    ),
    (("bylaw", "fine"), ("festival", "prize"), ("bridge", "opened")),
)

DIGESTS: tuple[Digest, ...] = (COURANT, LETTER, WALK, COUNCIL)
