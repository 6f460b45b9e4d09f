"""Values of facts: how they stand in prose and how an answer may spell them.

A space is all values that a relation can take. It gives one for each position, in an order that it is handed, so
that all chance stays with the world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

from corpus.world.lists import listed
from corpus.world.names import Order

UNITS = listed("""
    zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen,
    fifteen, sixteen, seventeen, eighteen, nineteen
""")
TENS = listed("zero, ten, twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety")
MONTHS = listed("January, February, March, April, May, June, July, August, September, October, November, December")


@dataclass(frozen=True)
class Value:
    """One value of a fact."""

    phrase: str
    """As it stands in a sentence, with its article or unit: "a silver thimble"."""
    answers: tuple[str, ...]
    """Accepted spellings of the answer, the preferred one first. At least one stands in the phrase."""


Orders = Callable[[str, int], Order]
"""Gives the scattered order that belongs to a part of a value, for so many numbers."""


class Space(Protocol):
    """The values that a relation can take."""

    def value(self, position: int, orders: Orders) -> Value:
        """Return the value at a position >= 0. All values come once before any comes again."""
        ...


def pair_at(position: int, firsts: int, seconds: int) -> tuple[int, int]:
    """Return the pair at a position of the firsts x seconds pairs, so that neighbours share neither part.

    Every pair comes once: within a round over the firsts both indices go up by one, and each round starts the seconds
    one further on.
    """
    turn, first = divmod(position, firsts)
    return first, (first + turn) % seconds


def in_words(number: int, conjunction: str = " and ") -> str:
    """Write 0 to 999 in words: `in_words(214)` is "two hundred and fourteen"."""
    if number < 20:
        return UNITS[number]
    if number < 100:
        tens, units = divmod(number, 10)
        return TENS[tens] + (f"-{UNITS[units]}" if units else "")
    hundreds, rest = divmod(number, 100)
    return f"{UNITS[hundreds]} hundred" + (f"{conjunction}{in_words(rest)}" if rest else "")


def ordinal(number: int) -> str:
    """Write 1 to 31 as an ordinal: 1st, 2nd, 13th, 22nd."""
    suffix = "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def with_article(noun: str) -> str:
    """Put "a" or "an" before a noun by its first letter; the vocabulary has no silent h and no sounded u."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


@dataclass(frozen=True)
class Numbers:
    """Whole numbers from `low` to `high` with a unit in the plural: beds, feet, pence."""

    low: int
    high: int
    unit: str
    unit_in_phrase: bool = False
    """Whether prose says "17 pence" for the value, or "17" because its sentence names the unit."""

    def value(self, position: int, orders: Orders) -> Value:
        """Return a number in digits, accepted in words and with its unit as well."""
        amount = self.low + orders("number", self.high - self.low + 1)[position]
        digits = [str(amount), f"{amount} {self.unit}"]
        words = list(dict.fromkeys([in_words(amount), in_words(amount, " ")]))
        spelled = [*words, *(f"{word} {self.unit}" for word in words)]
        preferred = digits[::-1] if self.unit_in_phrase else digits
        return Value(preferred[0], (*preferred, *spelled))


@dataclass(frozen=True)
class Years:
    """Years from `first` to `last`."""

    first: int
    last: int

    def value(self, position: int, orders: Orders) -> Value:
        """Return a year in digits."""
        year = str(self.first + orders("year", self.last - self.first + 1)[position])
        return Value(year, (year,))


@dataclass(frozen=True)
class Dates:
    """Days from one date to another, both included."""

    first: date
    last: date

    def value(self, position: int, orders: Orders) -> Value:
        """Return a date such as 14 March 1822, in every usual order."""
        days = orders("date", (self.last - self.first).days + 1)[position]
        day = self.first + timedelta(days=days)
        return Value(spelled_date(day), tuple(f"{spelling}{day.year}" for spelling in _day_spellings(day)))


@dataclass(frozen=True)
class Days:
    """Days of the year, without the leap day."""

    def value(self, position: int, orders: Orders) -> Value:
        """Return a day such as 9 May, in every usual order."""
        day = date(1801, 1, 1) + timedelta(days=orders("day", 365)[position])
        spellings = tuple(spelling.strip(" ,") for spelling in _day_spellings(day))
        return Value(spellings[0], spellings)


def spelled_date(day: date) -> str:
    """Write a date as the documents do: 14 March 1822."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _day_spellings(day: date) -> tuple[str, ...]:
    month = MONTHS[day.month - 1]
    nth = ordinal(day.day)
    return (
        f"{day.day} {month} ",
        f"{month} {day.day}, ",
        f"{nth} {month} ",
        f"{nth} of {month} ",
        f"{month} {nth}, ",
    )


@dataclass(frozen=True)
class Things:
    """Every pair of a first and a second word: smoked + eel pie."""

    firsts: tuple[str, ...]
    seconds: tuple[str, ...]
    article: bool = False

    def value(self, position: int, orders: Orders) -> Value:
        """Return a pair, with its indefinite article in prose where the space has one."""
        first, second = pair_at(position, len(self.firsts), len(self.seconds))
        first_word = self.firsts[orders("first", len(self.firsts))[first]]
        thing = f"{first_word} {self.seconds[orders('second', len(self.seconds))[second]]}"
        return Value(with_article(thing) if self.article else thing, (thing,))


@dataclass(frozen=True)
class Person:
    """Marks a relation whose value is a person; the world names them, so that no two share a family name."""


def person(first_name: str, family_name: str) -> Value:
    """Return a person, for whom the family name alone is answer enough."""
    return Value(f"{first_name} {family_name}", (f"{first_name} {family_name}", family_name))
