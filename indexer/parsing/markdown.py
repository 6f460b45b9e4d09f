"""Markdown: the front matter says what is known about the document, the rest is its text.

Front matter is YAML between two lines `---` at the very start. `title`, `effective`, `authority` and `supersedes` are
taken by their names, anything else becomes metadata. Without a title the first heading is it, or the file's name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from indexer.parsing.encodings import read_text
from indexer.parsing.fields import WrongFields, make_document
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import Heading, NotText, Parsed, SourceFile, Table

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*))?$")
CLOSING = re.compile(r"(?:^|[ \t])#+$")
UNDERLINE = re.compile(r"^ {0,3}(?:=+|-+)[ \t]*$")
DASHES = re.compile(r":?-+:?")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a few of them, nested, stand for more than memory holds."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not read")
        return super().compose_node(parent, index)


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of a Markdown file.

    Raises:
        NotText: the file is no text, or its front matter cannot be understood.
    """
    read = read_text(file, limits)
    fields, text = _front_matter(read.text)
    # As `corpus.loading` reads it: what is indexed and what is trained on have one hash.
    text = text.strip("\n")
    found = headings(text)
    fields["title"] = str(fields.get("title") or _first_title(found) or file.path.stem)
    try:
        document = make_document(file.id, text, fields)
    except WrongFields as error:
        raise NotText(f"front matter: {error}") from error
    yield Parsed(document, read.content.hash, read.content.size, found, tables(text), notes=read.notes)


def headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of a text, those in fenced code left out."""
    found: list[Heading] = []
    previous = ""
    for offset, line in _lines_outside_code(text):
        if heading := HEADING.match(line):
            start = offset + len(line) - len(line.lstrip())
            found.append(Heading(start, offset + len(line), len(heading[1]), _title(heading)))
        elif UNDERLINE.match(line) and previous.strip() and not HEADING.match(previous):
            start, level = offset - 1 - len(previous.lstrip()), 1 if "=" in line else 2
            found.append(Heading(start, offset + len(line), level, previous.strip()))
        previous = line
    return tuple(found)


def tables(text: str) -> tuple[Table, ...]:
    """Return the tables of a text: a line of cells, a line of dashes under it, and lines of cells up to another."""
    found: list[Table] = []
    before: tuple[int, str] | None = None
    start = body = end = 0
    for offset, line in [*_lines_outside_code(text), (len(text), "")]:
        if body:
            if "|" in line:
                end = offset + len(line)
                continue
            if end > body:
                found.append(Table(start, body, end))
            body = 0
        elif before and "|" in before[1] and _is_delimiter(line):
            start, body = before[0], min(offset + len(line) + 1, len(text))
            end = body
        before = (offset, line)
    return tuple(found)


def _title(heading: re.Match[str]) -> str:
    """Return the words of a heading, without the marks that may close it."""
    return CLOSING.sub("", (heading[2] or "").strip()).strip()


def _is_delimiter(line: str) -> bool:
    """Whether a line is the one of dashes between the header of a table and its rows."""
    if "|" not in line or line.startswith("    ") or not set(line) <= set("|:- \t"):
        return False
    cells = line.strip().removeprefix("|").removesuffix("|").split("|")
    return all(DASHES.fullmatch(cell.strip()) for cell in cells)


def _lines_outside_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their offsets; fenced code stands as an empty line for each fence."""
    fence = ""
    offset = 0
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                yield offset, ""
        elif mark:
            fence = mark[1]
            yield offset, ""
        else:
            yield offset, line
        offset += len(line) + 1


def _first_title(found: tuple[Heading, ...]) -> str:
    return next((heading.title for heading in found if heading.title), "")


def _front_matter(content: str) -> tuple[dict[str, Any], str]:
    """Split a file into the fields of its front matter and the text behind it."""
    match = FRONT_MATTER.match(content)
    if match is None:
        return {}, content
    try:
        fields = yaml.load(match[1], Loader=_PlainLoader)
        # An escape may stand for half a character, which no encoding can store.
        json.dumps(fields, ensure_ascii=False, default=str, skipkeys=True).encode()
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        line = f" in line {place.line + 2}" if place else ""
        raise NotText(f"front matter{line}: {getattr(error, 'problem', None) or error}") from error
    if fields is not None and not isinstance(fields, dict):
        # A line of dashes above a paragraph: a rule, and no front matter.
        return {}, content
    return {str(name): value for name, value in (fields or {}).items()}, content[match.end() :]
