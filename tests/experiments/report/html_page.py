"""A report parsed by the standard library's HTML parser, strictly: every element that opens must close."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

VOID = {"meta", "link", "br", "hr", "img", "input"}
SVG = {"svg": "http://www.w3.org/2000/svg"}


@dataclass
class HtmlPage(HTMLParser):
    """What a test asks of a page."""

    source: str
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    """The open elements around a text, and the text."""
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.source)
        self.close()
        assert self._open == [], f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1] == tag, f"</{tag}> closes <{self._open[-1]}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self._open), data))

    def text_of(self, tag: str) -> list[str]:
        """The texts directly inside elements of that name."""
        return [text.strip() for path, text in self.texts if path and path[-1] == tag and text.strip()]

    @property
    def text(self) -> str:
        """All that a person may read."""
        return " ".join(" ".join(text for path, text in self.texts if "style" not in path).split())

    @property
    def charts(self) -> dict[str, ElementTree.Element]:
        """The charts by their key, each parsed as XML."""
        found = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", self.source, re.DOTALL)]
        keys = {svg.get("aria-labelledby", "").split("-title")[0]: svg for svg in found}
        return {key: svg for key, svg in keys.items() if key}


def read_page(path: Path) -> HtmlPage:
    return HtmlPage(path.read_text(encoding="utf-8"))
