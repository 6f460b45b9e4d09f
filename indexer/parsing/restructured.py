"""reStructuredText: headings, paragraphs, lists, tables and code. No other file is read, and raw HTML is left out.

Errors are tolerated: a directive or role that is not known (Sphinx has many) stands in the text as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree

from indexer.parsing.encodings import read_text
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Parsed, SourceFile
from indexer.parsing.writing import TextWriter, one_line

SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "line_length_limit": 1 << 30,
    # Every message stays in the tree, since it holds what could not be understood; none is printed or ends the work.
    "report_level": 1,
    "halt_level": 5,
    "warning_stream": False,
    "_disable_config": True,
}
UNSEEN = (nodes.comment, nodes.substitution_definition, nodes.target, nodes.raw, nodes.image, nodes.pending)
ITEMS = (nodes.bullet_list, nodes.enumerated_list)
DEEPEST_SECTION = 6
RAW = re.compile(r"\.\. raw::")
FIELDS = re.compile(r"[A-Z][\w-]*:[ \t]+\S.*\n(?:[A-Z][\w-]*:|[ \t])")
"""The header of a letter or a PEP: each of its lines counts."""


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of a reStructuredText file."""
    read = read_text(file, limits)
    tree = publish_doctree(read.text, settings_overrides=SETTINGS)
    writer = TextWriter()
    _write_all(tree, writer, 0)
    yield writer.parsed(file, read.content, notes=read.notes)


def _write_all(parent: Any, writer: TextWriter, level: int) -> None:
    for node in parent.children:
        _write(node, writer, level)


def _write(node: Any, writer: TextWriter, level: int) -> None:
    """Write a block; `level` is that of the section it is in."""
    if isinstance(node, UNSEEN):
        return
    if isinstance(node, nodes.section):
        _write_all(node, writer, level + 1)
    elif isinstance(node, nodes.title | nodes.rubric):
        writer.heading(level or 1, node.astext())
    elif isinstance(node, nodes.system_message):
        _write_message(node, writer)
    elif isinstance(node, nodes.literal_block | nodes.doctest_block | nodes.line_block | nodes.math_block):
        writer.paragraph(node.astext())
    elif isinstance(node, ITEMS):
        _write_list(node, writer, 0)
    elif isinstance(node, nodes.table):
        _write_table(node, writer)
    elif isinstance(node, nodes.field | nodes.option_list_item | nodes.definition_list_item | nodes.docinfo):
        _write_pair(node, writer, level)
    elif isinstance(node, nodes.TextElement):
        text = node.astext()
        writer.paragraph(text if FIELDS.match(text) else one_line(text))
    else:
        _write_all(node, writer, level)


def _write_message(node: Any, writer: TextWriter) -> None:
    """Write what could not be understood, which is in the message as it was written."""
    for inner in node.findall(nodes.literal_block):
        if not RAW.match(inner.astext()):
            writer.paragraph(inner.astext())


def _write_list(node: Any, writer: TextWriter, depth: int) -> None:
    for number, item in enumerate(node.children, start=int(node.get("start", 1) or 1)):
        mark = f"{number}." if isinstance(node, nodes.enumerated_list) else "-"
        for child in item.children:
            if isinstance(child, ITEMS):
                _write_list(child, writer, depth + 1)
            elif isinstance(child, nodes.TextElement):
                verbatim = isinstance(child, nodes.literal_block)
                writer.item(child.astext() if verbatim else one_line(child.astext()), depth, mark)
                mark = " " * len(mark)
            else:
                _write(child, writer, DEEPEST_SECTION)


def _write_pair(node: Any, writer: TextWriter, level: int) -> None:
    """Write a name and what is said of it: `Author: Ana` on one line, a longer description below."""
    *names, body = node.children or [nodes.Text("")]
    name = ", ".join(one_line(part.astext()) for part in names)
    if len(getattr(body, "children", ())) == 1 and isinstance(body.children[0], nodes.paragraph):
        writer.item(f"{name}: {one_line(body.astext())}")
    else:
        writer.paragraph(f"{name}:")
        _write_all(body, writer, level)


def _write_table(node: Any, writer: TextWriter) -> None:
    for title in node.findall(nodes.title):
        writer.paragraph(one_line(title.astext()))
    writer.table([_cell(entry) for entry in row.findall(nodes.entry)] for row in node.findall(nodes.row))


def _cell(entry: Any) -> str:
    return " ".join(child.astext() for child in entry.children if not isinstance(child, nodes.system_message))
