"""The elements of HTML: which are blocks, which frame a page, and which no reader sees."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

UNSEEN = frozenset(
    (
        "script",
        "style",
        "noscript",
        "template",
        "head",
        "title",
        "svg",
        "iframe",
        "object",
        "embed",
        "canvas",
        "audio",
        "video",
        "map",
        "button",
        "select",
        "option",
        "input",
        "textarea",
        "dialog",
    )
)
"""Elements whose content is no text for a reader."""
FRAME = frozenset(("nav", "menu"))
FRAME_OF_PAGE = frozenset(("header", "footer", "aside"))
"""Around the page they are boilerplate; within an article they hold its title, its author, and what it notes."""
FRAME_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "menu", "menubar"))
UNSEEN_STYLES = ("display:none", "visibility:hidden")
CONTENT = frozenset(("main", "article", "section"))
BLOCKS = frozenset(
    (
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    )
)


def name_of(element: etree._Element) -> str:
    """Return the name of an element in lower case, without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def is_hidden(element: etree._Element) -> bool:
    """Whether an element says of itself that it is not shown."""
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    style = element.get("style", "").lower().replace(" ", "")
    return any(hidden in style for hidden in UNSEEN_STYLES)


def texts(element: etree._Element) -> Iterator[str]:
    """Yield the pieces of text of an element, without what no reader sees."""
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, inner in walk:
        name = name_of(inner)
        # Blocks are apart, even where no space is.
        yield " " if name in BLOCKS or name == "br" else ""
        if event == "start":
            if name in UNSEEN or is_hidden(inner):
                walk.skip_subtree()
            else:
                yield inner.text or ""
        elif inner is not element:
            yield inner.tail or ""
