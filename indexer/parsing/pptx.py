"""PPTX: every slide is a page: its title, texts, tables, and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pptx

from indexer.parsing.limits import ParsingLimits
from indexer.parsing.pages import pages_without_text
from indexer.parsing.source import Parsed, SourceFile, as_damage
from indexer.parsing.writing import TextWriter
from indexer.parsing.zipped import open_zip

FURNITURE = frozenset((13, 15, 16))
"""Placeholders for the number of the slide, its footer and its date (PP_PLACEHOLDER)."""
SHARES_A_LINE = 0.5
"""Shapes whose tops differ by less than this share of a line's height stand beside each other."""
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
DEEPEST = 8
LINE_EMU = 457_200
"""Half an inch."""


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of a PPTX file."""
    content, _ = open_zip(file, limits, "ppt/presentation.xml", "a presentation (PPTX)")
    writer = TextWriter()
    bare: list[int] = []
    with as_damage("presentation"):
        opened = pptx.Presentation(BytesIO(content.data))
        title = opened.core_properties.title or ""
        for number, slide in enumerate(opened.slides, start=1):
            writer.page()
            before = writer.length
            _write_slide(slide, writer)
            if writer.length == before:
                bare.append(number)
    # What PowerPoint calls a presentation whose author gave it no name.
    title = "" if title == "PowerPoint Presentation" else title
    notes = pages_without_text(bare, "slide")
    yield writer.parsed(file, content, title, notes=notes, without="no text on the slides: pictures?")


def _write_slide(slide: Any, writer: TextWriter) -> None:
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        writer.heading(1, title.text_frame.text)
    for shape in _in_reading_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            _write_shape(shape, writer)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        writer.paragraph(_clean(slide.notes_slide.notes_text_frame.text))


def _write_shape(shape: Any, writer: TextWriter) -> None:
    if shape.is_placeholder and shape.placeholder_format.type in FURNITURE:
        return
    if getattr(shape, "shapes", None) is not None:
        for inner in _in_reading_order(shape.shapes):
            _write_shape(inner, writer)
    elif getattr(shape, "has_table", False):
        writer.table([_cell(cell) for cell in row.cells] for row in shape.table.rows)
    elif shape.has_text_frame:
        _write_text(shape, writer)


def _write_text(shape: Any, writer: TextWriter) -> None:
    """Write a text box as a paragraph, and the body of a slide, whose lines are points, as a list."""
    paragraphs = [paragraph for paragraph in shape.text_frame.paragraphs if _clean(paragraph.text)]
    if not shape.is_placeholder or len(paragraphs) < 2:
        writer.paragraph("\n".join(_clean(paragraph.text) for paragraph in paragraphs))
        return
    counts = [0] * (DEEPEST + 1)
    for paragraph in paragraphs:
        level = min(paragraph.level, DEEPEST)
        numbered = paragraph._p.find(f"{A}pPr/{A}buAutoNum") is not None
        # Lists within begin again under every item, and numbers after a point that has none.
        counts[level:] = [counts[level] + 1 if numbered else 0, *[0] * (DEEPEST - level)]
        writer.item(_clean(paragraph.text), level, f"{counts[level]}." if numbered else "-")


def _cell(cell: Any) -> str:
    return "" if cell.is_spanned else str(cell.text)


def _in_reading_order(shapes: Any) -> list[Any]:
    """Return shapes from top to bottom, and from left to right where they stand beside each other."""
    line = LINE_EMU * SHARES_A_LINE
    return sorted(shapes, key=lambda shape: (round((shape.top or 0) / line), shape.left or 0))


def _clean(text: str) -> str:
    """Return a text with the line breaks that a person sees: a vertical tab is one."""
    return text.replace("\v", "\n").strip()
