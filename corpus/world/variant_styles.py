"""The styles of updates and of hearsay, which fit any kind of subject."""

from __future__ import annotations

from corpus.world.kind import Style

NOTICE_OF_CHANGE = Style(
    name="notice of change",
    authority=4,
    titles=("Notice of Change: {it}", "Corrected Entry: {it}", "New Particulars of {it}"),
    openings=(
        "The entry on {it} has gone out of date and is replaced by this one.",
        "What was printed before about {it} no longer holds, and this is how matters stand now.",
        "A change has been reported from {town}, and the particulars of {it} are therefore given anew.",
        "Readers are asked to strike out the old entry on {it} and to keep this one.",
        "The particulars of {it} were looked into again this year, and not all of them were as before.",
    ),
    colours=(
        "The office regrets the trouble to those who have learned the old entry by heart.",
        "The change was reported in good time and has been checked on the spot.",
        "A copy of this notice hangs in the porch of the town hall.",
        "All the rest is as it was, and is repeated here so that nobody need keep both papers.",
        "The clerk who wrote the first entry has retired and sends his greetings.",
        "Travellers who carry an older guide should correct it in pencil.",
        "The news was known in {town} long before it reached this office.",
        "No objection was made when the change was read out in the market.",
        "The printer has been asked to use the good paper this time.",
        "Those concerned were asked to look over this notice and found it correct.",
    ),
    endings=(
        "Older copies should be thrown away.",
        "This notice holds until another replaces it.",
        "The earlier entry is withdrawn.",
        "Please pass this on to anyone who still has the old sheet.",
        "Further changes will be announced in the same way.",
    ),
)

HEARSAY = Style(
    name="hearsay",
    authority=0,
    titles=("Something I Was Told about {it}", "Overheard: {it}", "What They Say of {it}"),
    openings=(
        "I had this from a man on the ferry, who seemed very sure of himself.",
        "My uncle has been to {town} and has told us all about it, more than once.",
        "While we waited for the coach at {town}, a stranger was good enough to instruct us.",
        "There was an argument about {it} at dinner, and the loudest voice won it.",
        "A pedlar who came through {town} had a good deal to say, and I wrote some of it down.",
    ),
    colours=(
        "He had no book with him to prove it, but he did have a very fine hat.",
        "Nobody at the table cared to contradict him.",
        "I have not been there myself.",
        "It was told with so many gestures that it must be at least half true.",
        "Someone laughed, but that may have been about something else.",
        "I asked him how he knew, and he tapped the side of his nose.",
        "My notes got wet on the way home, so I am going by memory.",
        "The person next to me shook her head, though she may only have been cold.",
        "He then told the same story again with other animals in it.",
        "I have since repeated it to several people, and it improves each time.",
    ),
    endings=(
        "I have not looked it up.",
        "That, at any rate, is what I heard.",
        "Do not say that you have it from me.",
        "Make of it what you will.",
        "If it is wrong, then I am not the one who made it up.",
    ),
)
