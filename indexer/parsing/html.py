"""HTML: what a reader of the page reads. Scripts, styles, menus, and what frames the page are left out.

Where the page has a `<main>`, that is the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree
from lxml import html as lxml_html

from indexer.parsing.encodings import read_text
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.markup import write_markup
from indexer.parsing.source import NotThisFormat, Parsed, SourceFile, as_damage
from indexer.parsing.writing import TextWriter, one_line

DECLARED = re.compile(rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
DECLARED_WITHIN = 4096
XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
DEPTH_ERRORS = ("Excessive depth", "exceeded")


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of an HTML file."""
    read = read_text(file, limits, declared_encoding)
    root = parse_tree(read.text)
    writer = TextWriter()
    notes = list(read.notes)
    if root is not None:
        write_markup(root, writer)
        if writer.empty:
            # A page whose every word is in its header or footer is still a page.
            write_markup(root, writer, boilerplate=True)
            if not writer.empty:
                notes.append("nothing but header, footer or menus: they were kept")
    yield writer.parsed(
        file, read.content, page_title(root), notes=notes, without="no text in the page (is it made by a script?)"
    )


def parse_tree(text: str) -> etree._Element | None:
    """Return the tree of a page, or None where there is nothing in it."""
    parser = lxml_html.HTMLParser(huge_tree=True, no_network=True, remove_comments=True, remove_pis=True)
    text = XML_DECLARATION.sub("", text)
    try:
        with as_damage("HTML page"):
            root = lxml_html.document_fromstring(text, parser=parser)
    except NotThisFormat as error:
        if isinstance(error.__cause__, etree.ParserError):
            # What lxml raises over a page with nothing in it.
            return None
        raise
    for problem in parser.error_log:
        if any(words in problem.message for words in DEPTH_ERRORS):
            raise NotThisFormat(f"not HTML that can be read whole: {problem.message} in line {problem.line}")
    return root


def page_title(root: etree._Element | None) -> str:
    """Return what the page says its title is."""
    found = None if root is None else root.find(".//head/title")
    return "" if found is None else one_line(found.text or "")


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding that a page says it is in, as Python calls it."""
    match = DECLARED.search(data[:DECLARED_WITHIN])
    if match is None:
        return None
    name = match[1].decode("ascii").lower()
    # As every browser does: this is what those pages are in.
    return "cp1252" if name in {"iso-8859-1", "latin1", "latin-1", "ascii", "us-ascii"} else name
