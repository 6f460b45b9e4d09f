"""Markdown: the front matter says what is known about the document, the rest is its text.

Front matter is YAML between two lines `---` at the very start. `title`, `effective`, `authority` and `supersedes` are
taken by their names, anything else becomes metadata. Without a title the first heading is it, or the file's name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import yaml
from pydantic import ValidationError

from corpus.schema import Document
from indexer.parsing.source import Heading, NotText, Parsed, SourceFile, read_document

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
UNDERLINE = re.compile(r"^ {0,3}(?:=+|-+)[ \t]*$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
KNOWN = ("title", "effective", "authority", "supersedes")


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a few of them, nested, stand for more than memory holds."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not read")
        return super().compose_node(parent, index)


def parse(file: SourceFile) -> Iterator[Parsed]:
    """Yield the one document of a Markdown file.

    Raises:
        NotText: the file is no text, or its front matter cannot be understood.
    """
    content, source_hash, size = read_document(file)
    fields, text = _front_matter(content)
    # As `corpus.loading` reads it: what is indexed and what is trained on have one hash.
    text = text.strip("\n")
    found = headings(text)
    known = {name: fields.pop(name) for name in KNOWN if fields.get(name) is not None}
    if isinstance(known.get("effective"), datetime):
        known["effective"] = known["effective"].date()
    known["title"] = str(known.get("title") or _first_title(found) or file.path.stem)
    metadata = {name: _as_text(value) for name, value in fields.items() if value is not None}
    try:
        document = Document(id=file.id, text=text, metadata=metadata, **known)
    except ValidationError as error:
        problems = "; ".join(f"{problem['loc'][0]}: {problem['msg']}" for problem in error.errors())
        raise NotText(f"front matter: {problems}") from error
    yield Parsed(document, source_hash, size, found)


def headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of a text, those in fenced code left out."""
    found: list[Heading] = []
    fence = previous = ""
    offset = 0
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        elif heading := HEADING.match(line):
            start = offset + len(line) - len(line.lstrip())
            found.append(Heading(start, offset + len(line), len(heading[1]), (heading[2] or "").strip()))
        elif UNDERLINE.match(line) and previous.strip() and not HEADING.match(previous):
            start, level = offset - 1 - len(previous.lstrip()), 1 if "=" in line else 2
            found.append(Heading(start, offset + len(line), level, previous.strip()))
        previous = line
        offset += len(line) + 1
    return tuple(found)


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


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, date):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, default=str)
