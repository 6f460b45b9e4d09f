"""Characters that look like others: what a reader, or a normalising tokenizer, takes them for.

Compatibility forms are folded as Unicode does it (NFKC, one character at a time), characters that show nothing are left
out, and the letters and signs of control tokens and frames are recognised in their best-known disguises (Unicode
Technical Standard 39, `confusables.txt`, has them all).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

DISGUISES = {
    "<": "‹〈⟨〈❮˂ᐸ",
    ">": "›〉⟩〉❯˃ᐳ",
    "|": "∣│┃❘ǀ⏐｜¦ꟾ",
    "[": "【〔⦋⁅❲〖〚",
    "]": "】〕⦌⁆❳〗〛",
    ":": "∶꞉ː։׃",
    "/": "⁄∕╱⧸",
    "_": "‗",
    "a": "аɑα",
    "c": "сϲ",
    "d": "ԁ",
    "e": "еҽ",
    "h": "һ",
    "i": "іıɩ",
    "j": "ј",
    "m": "ⅿ",
    "n": "ո",
    "o": "оοօ",
    "p": "рρ",
    "q": "ԛ",
    "r": "г",
    "s": "ѕ",
    "u": "υս",
    "v": "νѵ",
    "w": "ԝ",
    "x": "хχ",
    "y": "уү",
    "A": "АΑ",
    "E": "ЕΕ",
    "H": "НΗ",
    "I": "ІΙ",
    "N": "Ν",
    "O": "ОΟ",
    "Q": "Ԛ",
    "S": "Ѕ",
    "T": "ТΤ",
    "U": "Ս",
}
SHOWN_AS_NOTHING = ("Cf", "Mn", "Me")
"""Categories: format characters such as the zero-width ones, and marks that sit on the character before."""


class _Folding(dict[int, str]):
    """Code point to what it is taken for; each is looked up once."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    if unicodedata.category(character) in SHOWN_AS_NOTHING:
        return ""
    # A letter with its mark in one code point is that letter, as for a tokenizer that strips accents.
    plain = unicodedata.normalize("NFKD", character)
    return "".join(part for part in plain if unicodedata.category(part) not in SHOWN_AS_NOTHING)


FOLDING = _Folding({ord(disguise): plain for plain, many in DISGUISES.items() for disguise in many})


def folded(text: str) -> str:
    """Return what a text is taken for."""
    return text if text.isascii() else text.translate(FOLDING)


def origins(text: str) -> list[int]:
    """Return for each character of the folded text where the one that it comes from stands in the text."""
    if text.isascii():
        return list(range(len(text)))
    return [at for at, character in enumerate(text) for _ in FOLDING[ord(character)]]


def inserted(text: str, piece: str, places: Iterable[int]) -> str:
    """Return the text with a piece put in before the characters at these places."""
    parts, last = [], 0
    for place in sorted(set(places)):
        parts += [text[last:place], piece]
        last = place
    return "".join([*parts, text[last:]])
