"""DOCX: paragraphs, headings, lists and tables of the body, in their order. Page headers and footers are left out.

The library opens the package and knows the styles; the text is taken from the elements themselves, since the library
passes over text in content controls, text boxes, footnotes and tracked insertions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import docx
from lxml import etree

from indexer.parsing.docx_lists import DEEPEST, Lists, W, as_number
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Parsed, SourceFile, as_damage
from indexer.parsing.writing import TextWriter
from indexer.parsing.zipped import open_zip

FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
BOX = f"{W}txbxContent"
UNSEEN = frozenset({f"{W}del", f"{W}moveFrom", f"{W}rPr", f"{W}pPr", f"{W}instrText", FALLBACK, BOX})
"""What was deleted, what is no text, what a text box holds for older programs, and the box, written after its line."""
WRAPPERS = frozenset(f"{W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"))
SPACES = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
NOTES = ("/footnotes", "/endnotes")
LISTS = "/numbering"


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of a DOCX file."""
    content, _ = open_zip(file, limits, "word/document.xml", "a Word document (DOCX)")
    writer = TextWriter()
    with as_damage("Word document"):
        opened = docx.Document(BytesIO(content.data))
        title = opened.core_properties.title or ""
        styles = {style.style_id: style.name or "" for style in opened.styles}
        numbering = next(_related(opened, (LISTS,)), None)
        _Blocks(writer, styles, Lists(numbering)).write(opened.element.body)
        for note in _notes(opened):
            writer.paragraph(note)
    yield writer.parsed(file, content, title, without="no text in the document")


class _Blocks:
    """Writes paragraphs and tables."""

    def __init__(self, writer: TextWriter, styles: dict[str, str], lists: Lists) -> None:
        self._lists = lists
        self._writer = writer
        self._styles = styles

    def write(self, parent: Any) -> None:
        """Write the blocks in an element, those in content controls too."""
        for element in parent:
            if element.tag == f"{W}p":
                self._paragraph(element)
            elif element.tag == f"{W}tbl":
                self._table(element)
            elif element.tag in WRAPPERS:
                self.write(element)

    def _paragraph(self, paragraph: Any) -> None:
        text = _text(paragraph).strip()
        style = self._style(paragraph)
        heading = HEADING.match(style)
        numbered = paragraph.find(f"{W}pPr/{W}numPr")
        if heading or style.lower() == "title":
            self._writer.heading(int(heading[1]) if heading else 1, text)
        elif numbered is not None or style.lower().startswith("list"):
            depth = as_number(_value(numbered, "ilvl"), 0, DEEPEST)
            self._writer.item(text, depth, self._lists.mark(_value(numbered, "numId"), depth))
        else:
            self._writer.paragraph(text)
        for box in paragraph.iter(BOX):
            if not any(above.tag in {FALLBACK, BOX} for above in box.iterancestors()):
                self.write(box)

    def _table(self, table: Any) -> None:
        rows = [row for row in table.iter(f"{W}tr") if next(row.iterancestors(f"{W}tbl")) is table]
        cells = [cell for row in rows for cell in row.iterchildren(f"{W}tc")]
        if len(cells) == 1:
            # A frame around text, and no table.
            self.write(cells[0])
        else:
            self._writer.table(_table_texts(rows))

    def _style(self, paragraph: Any) -> str:
        style = paragraph.find(f"{W}pPr/{W}pStyle")
        return "" if style is None else self._styles.get(style.get(f"{W}val", ""), "")


def _table_texts(rows: list[Any]) -> Iterator[list[str]]:
    """Yield the texts of rows; a cell that is merged with the one above has its text as well."""
    above: list[str] = []
    for row in rows:
        texts: list[str] = []
        for cell in row.iterchildren(f"{W}tc"):
            text = " ".join(_text(paragraph) for paragraph in cell.iter(f"{W}p"))
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            if merged is not None and merged.get(f"{W}val") != "restart" and len(texts) < len(above):
                text = above[len(texts)]
            texts += [text, *[""] * (as_number(_value(cell.find(f"{W}tcPr"), "gridSpan"), 1, 100) - 1)]
        above = texts
        yield texts


def _text(element: Any) -> str:
    """Return what a reader sees of a paragraph."""
    pieces: list[str] = []
    for child in element:
        if child.tag == f"{W}t":
            pieces.append(child.text or "")
        elif child.tag not in UNSEEN:
            pieces.append(SPACES.get(child.tag) or _text(child))
    return "".join(pieces)


def _notes(opened: Any) -> Iterator[str]:
    """Yield the footnotes and endnotes of a document."""
    for root in _related(opened, NOTES):
        for note in root:
            if isinstance(note.tag, str) and note.get(f"{W}type") is None:
                yield " ".join(_text(paragraph).strip() for paragraph in note.iter(f"{W}p"))


def _related(opened: Any, kinds: tuple[str, ...]) -> Iterator[Any]:
    """Yield the parts of a document of some kinds."""
    for relation in opened.part.rels.values():
        if relation.reltype.endswith(kinds) and not relation.is_external:
            yield etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False, no_network=True))


def _value(element: Any, name: str) -> str:
    """Return the value of a property below an element; empty where there is none."""
    found = None if element is None else element.find(f"{W}{name}")
    return "" if found is None else str(found.get(f"{W}val", ""))
