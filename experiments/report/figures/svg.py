"""The parts of a chart: elements, text that fits its room, and the markers of the four families of arms.

Charts are drawn with `xml.etree`, which escapes every text, and take their colours from the page's style sheet through
classes, so that light, dark and print need no second chart. Lengths are CSS pixels.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from xml.etree import ElementTree

from experiments.report import words

Element = ElementTree.Element
NARROW_WIDTH = 358
"""Width of a chart on a telephone; the style sheet shows this one or the wide one."""

_NARROW_LETTERS = frozenset("iljtfrI.,:;'|!()[]-/ ")
_BROAD_LETTERS = frozenset("mwMW@%—")


@dataclass(frozen=True)
class Frame:
    """What a chart is told from outside: how wide it is, its key, unique on the page, and its title."""

    width: float
    key: str
    title: str


def drawing(frame: Frame, height: float, description: str) -> Element:
    """Start a chart; title and description are read to those who do not see it."""
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {_number(frame.width)} {_number(height)}",
            "width": _number(frame.width),
            "height": _number(height),
            "role": "img",
            "aria-labelledby": f"{frame.key}-title {frame.key}-description",
        },
    )
    element(root, "title", id=f"{frame.key}-title").text = words.visible(frame.title)
    element(root, "desc", id=f"{frame.key}-description").text = words.visible(description)
    return root


def element(parent: Element, tag: str, css: str = "", **attributes: float | str) -> Element:
    """Append an element; an underscore in an attribute's name stands for a hyphen."""
    given = {name.replace("_", "-"): _number(value) for name, value in attributes.items()}
    return ElementTree.SubElement(parent, tag, {"class": css, **given} if css else given)


def label(parent: Element, x: float, y: float, text: str, *, css: str = "", anchor: str = "start") -> Element:
    """Append a line of text whose baseline is at y."""
    node = element(parent, "text", css, x=x, y=y, text_anchor=anchor)
    node.text = words.visible(text)
    return node


def tooltip(parent: Element, text: str) -> None:
    """Say in full what a shortened label stands for."""
    element(parent, "title").text = words.visible(text)


def markup(root: Element) -> str:
    """Return the chart as markup for the page."""
    return ElementTree.tostring(root, encoding="unicode")


def text_width(text: str, size: float) -> float:
    """Estimate the width of a text in a sans-serif font, rather too wide than too narrow."""
    return size * sum(map(_advance, text))


def fitted(text: str, size: float, room: float) -> str:
    """Return the text, cut with an ellipsis where it does not fit into the room."""
    text = words.visible(text)
    if text_width(text, size) <= room:
        return text
    while text and text_width(text + "…", size) > room:
        text = text[:-1]
    return text.rstrip("_- ") + "…"


def marker(parent: Element, family: str, x: float, y: float, radius: float = 6) -> Element:
    """Append a family's marker: its shape tells it apart without colour."""
    css = f"mark {family}"
    if family == "tuned":
        reach = radius * 1.25
        return element(
            parent, "path", css, d=f"M{x:.1f} {y - reach:.1f}l{reach} {reach}l{-reach} {reach}l{-reach} {-reach}z"
        )
    if family == "both":
        side = radius * 1.8
        return element(parent, "rect", css, x=x - side / 2, y=y - side / 2, width=side, height=side, rx=1)
    return element(parent, "circle", css, cx=x, cy=y, r=radius)


def icon(family: str) -> str:
    """Return a family's marker alone, for text and tables; it says nothing that the words do not."""
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "icon",
            "viewBox": "0 0 16 16",
            "width": "14",
            "height": "14",
            "aria-hidden": "true",
        },
    )
    marker(root, family, 8, 8, 5)
    return markup(root)


def _advance(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in _NARROW_LETTERS:
        return 0.34
    if letter in _BROAD_LETTERS:
        return 0.92
    return 0.7 if letter.isupper() else 0.57


def _number(value: float | str) -> str:
    """Write a length with at most one decimal."""
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
