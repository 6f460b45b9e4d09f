"""Documents about a whole district: each tells a few facts of subjects that have documents of their own."""

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
        titles=("The {town} Courant", "The {town} Courant: News of the Week", "Heard in {town}: from the Courant"),
        openings=(
            "It has been a quiet week in {town}, and so we print what there is.",
            "The editor thanks those readers of {town} who have sent in corrections, and offers the following.",
            "With the mail boat late again, the news from {town} is our own.",
            "Our correspondent has walked round {town} with a notebook and an umbrella.",
            "Readers in {town} want news and not opinions, so here is some.",
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
            "The chess problem has been left out for want of space.",
            "Advertisements should reach us before the weekend.",
            "The tide table hangs in our window as usual.",
        ),
        statements={
            "ship.cargo": (
                "{it} came in on Tuesday with her usual cargo, {value}.",
                "{it} is loading {value} at the inner quay, as she always does.",
                "For those who asked: {it} carries {value}.",
                "The noise on the quay came from {it}, whose usual cargo is {value}.",
                "{it} was delayed by fog, and her cargo of {value} is none the worse.",
            ),
            "guild.warden": (
                "{value}, warden of {it}, has recovered from a cold.",
                "The warden of {it}, {value}, opened the new footpath.",
                "{value} remains warden of {it}, there being no other candidate.",
                "A silver wedding was celebrated by {value}, the warden of {it}.",
                "{value}, the warden of {it}, gave the lecture and most of the answers.",
            ),
            "library.books": (
                "{it} has been counted again and holds {value} books.",
                "{it} now owns {value} books and would like them returned.",
                "There are {value} books in {it}, according to the new catalogue.",
                "To settle a bet: {it} holds {value} books.",
                "Rain has kept readers indoors with the {value} books of {it}.",
            ),
        },
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
        statements={
            "inn.dish": (
                "I have taken my meals at {it}, which is known for its {value}.",
                "You would like {it}, where the best dish is the {value}.",
                "I had the {value} for which {it} is known, and then I had it again.",
                "The cook at {it} is famous for the {value} and will not say how the dish is made.",
                "People cross the island to eat the {value} at {it}.",
            ),
            "festival.day": (
                "Come for {it} if you can, which is held on {value}.",
                "Everyone talks of {it}, which falls on {value} each year.",
                "I shall stay for {it}, which is on {value}.",
                "{it} is held on {value}, so keep the day free.",
                "I missed {it}, which falls on {value}, and have been pitied for it.",
            ),
            "hill.height": (
                "I walked up {it}, which is {value} high, and have the blisters to show for it.",
                "From my window I see {it}, which rises {value} above the sea.",
                "{it} is {value} high, and looks higher from below.",
                "They tell me that {it} is {value} high, and my knees agree.",
                "On Sunday I got to the top of {it}, which is {value} high.",
            ),
        },
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
        statements={
            "town.steps": (
                "First climb the lighthouse at {it}, which has {value} steps.",
                "The lighthouse at {it} has {value} steps, and a bench half way up.",
                "Count the steps of the lighthouse at {it} as you go, and you should reach {value}.",
                "Begin with the lighthouse at {it}, whose {value} steps will wake anyone up.",
                "There are {value} steps in the lighthouse at {it}, and the view is worth them all.",
            ),
            "bridge.builder": (
                "Next comes {it}, which was built by {value}.",
                "Cross the river by {it}, the work of {value}, who built it without a drawing.",
                "{it} was built by {value}, whose initials are cut into the keystone.",
                "The lane leads down to {it}, built by {value}.",
                "Stop on {it} and think kindly of {value}, who built it.",
            ),
            "library.treasure": (
                "At {it}, ask to see the chief treasure, {value}.",
                "{it} is open in the afternoon and keeps {value} as its chief treasure.",
                "If it rains, go into {it} and look at its chief treasure, {value}.",
                "The chief treasure of {it} is {value}, which is kept behind glass.",
                "End the visit at {it}, whose pride is {value}.",
            ),
        },
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
            "The mayor of {town}, the clerk and enough members to decide things sat in council.",
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
        statements={
            "bylaw.fine": (
                "The fine under {it} was left at {value}.",
                "The clerk confirmed that the fine under {it} is {value}.",
                "A member asked what is paid for a breach of {it}, and was told that the fine is {value}.",
                "It was reported that nobody had yet paid the fine under {it}, which is {value}.",
                "The fine under {it} is {value}, and a motion to halve it was lost.",
            ),
            "festival.prize": (
                "The treasurer was told to buy the prize for {it}, which is {value}.",
                "{value} was approved as the prize given at {it}.",
                "It was agreed that the winner at {it} shall again receive {value}.",
                "The prize given at {it} is {value}, and the bill for it was passed.",
                "The cost of {value}, the first prize at {it}, was met from the rates.",
            ),
            "bridge.opened": (
                "The surveyor stated that {it} was opened in {value} and is sound.",
                "{it} was opened in {value}, and its railings want paint.",
                "In reply to a question, the clerk said that {it} was opened in {value}.",
                "A plate is to be put on {it} to say that it was opened in {value}.",
                "As {it} was opened in {value}, no papers on its cost can be found.",
            ),
        },
    ),
    (("bylaw", "fine"), ("festival", "prize"), ("bridge", "opened")),
)

DIGESTS: tuple[Digest, ...] = (COURANT, LETTER, WALK, COUNCIL)
