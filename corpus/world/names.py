"""Invented names: pronounceable, unique, and found by number without remembering the ones given before.

A name is a number written in syllables, so two numbers never give one name: consonants and vowels alternate, which
lets a name be read back in one way only.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from corpus.world.lists import listed

ONSETS = listed("B, Br, C, D, Dr, F, G, Gr, H, J, L, M, N, P, Pr, R, S, St, T, Th, Tr, V, W")
VOWELS = listed("a, e, i, o, u")
MIDDLES = listed("b, d, dr, g, l, ld, lv, lm, m, mb, n, nd, nn, p, r, rd, rl, rr, rv, s, st, t, th, v")
CODAS = listed("l, ll, m, n, nd, r, rd, rn, s, sk, th")

PLACE_ONSETS = listed("B, Br, D, Dr, F, G, Gl, H, J, K, L, M, N, P, Pl, R, Sk, St, T, Thr, V, W")
PLACE_CODAS = listed("l, ll, m, n, nd, r, rn, s, d")
PLACE_ENDINGS = listed("borough, dale, ford, gate, haven, holm, mouth, ness, port, stow, wick")

ISLAND_MIDDLES = listed("d, l, ll, m, mm, n, nd, r, rr, st, th, v")
ISLAND_ENDINGS = listed("ay, mar, ney, sey")


class Order:
    """The numbers 0 … size-1 in a scattered order, each once.

    Up to `SHUFFLED` numbers are shuffled. Beyond that position i holds (step·i + start) mod size, which takes no
    memory: `step` has no divisor in common with `size`, so this is a permutation as well, and it is near the golden
    section of `size`, so neighbours lie far apart.
    """

    SHUFFLED = 50_000

    def __init__(self, size: int, chance: random.Random) -> None:
        """Draw an order of `size` >= 1 numbers."""
        self.size = size
        self._shuffled: list[int] = []
        if size <= self.SHUFFLED:
            self._shuffled = list(range(size))
            chance.shuffle(self._shuffled)
            return
        self._start = chance.randrange(size)
        self._step = int(size * chance.uniform(0.61, 0.626))
        while math.gcd(self._step, size) != 1:
            self._step += 1

    def __getitem__(self, position: int) -> int:
        """Return the number at a position; positions beyond the size start again."""
        if self._shuffled:
            return self._shuffled[position % self.size]
        return (self._step * position + self._start) % self.size


class Syllables:
    """All names of one pattern of parts, numbered from 0 to size-1."""

    def __init__(self, *parts: Sequence[str]) -> None:
        """Take the choices for each part, first part first."""
        self.parts = parts
        self.size = math.prod(len(part) for part in parts)

    def __getitem__(self, number: int) -> str:
        """Write a number as a name."""
        chosen = []
        for part in self.parts:
            number, index = divmod(number, len(part))
            chosen.append(part[index])
        return "".join(chosen)


class Names:
    """A sequence of unique names: the short ones first, the long ones once those are used up."""

    def __init__(self, short: Syllables, long: Syllables, chance: random.Random) -> None:
        """Scatter both patterns with the same source of chance."""
        self.patterns = [(pattern, Order(pattern.size, chance)) for pattern in (short, long)]

    def __getitem__(self, position: int) -> str:
        """Return the name at a position."""
        for pattern, order in self.patterns:
            if position < pattern.size:
                return pattern[order[position]]
            position -= pattern.size
        raise IndexError("all names are used up")


def family_names(chance: random.Random) -> Names:
    """Return names such as Tolvan: 195,000 of two syllables, then 25 million of three."""
    return Names(
        Syllables(ONSETS, VOWELS, MIDDLES, VOWELS, CODAS),
        Syllables(ONSETS, VOWELS, MIDDLES, VOWELS, MIDDLES, VOWELS, CODAS),
        chance,
    )


def town_names(chance: random.Random) -> Names:
    """Return names such as Druskhaven: 18,000 short ones, then two million long ones."""
    return Names(
        Syllables(PLACE_ONSETS, VOWELS, PLACE_CODAS, PLACE_ENDINGS),
        Syllables(PLACE_ONSETS, VOWELS, MIDDLES, VOWELS, PLACE_CODAS, PLACE_ENDINGS),
        chance,
    )


def island_name(chance: random.Random) -> str:
    """Return a name such as Orlmar for the island itself."""
    pattern = Syllables(["", *PLACE_ONSETS], VOWELS, ISLAND_MIDDLES, ISLAND_ENDINGS)
    return pattern[chance.randrange(pattern.size)].capitalize()
