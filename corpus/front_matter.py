"""The block between two `---` lines at the head of a Markdown file: one `key: value` on each line.

    ---
    title: "Register of Shipping: the Constant Wager"
    effective: 1871-05-02
    authority: 4
    ---

    The Constant Wager is a brig …

It is a small part of YAML: flat, and a value is plain text, or a JSON string where it is in double quotes. The text
that is indexed and trained on is what follows the block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

FENCE = "---"

FIELD = re.compile(r"(?P<key>[A-Za-z_][\w .-]*?)\s*:(?P<value>(?:\s.*)?)")

PLAIN = re.compile(r"0|[1-9][0-9]*|[A-Za-z][^:#\"]*")
"""A value that needs no quotes: a whole number, or a text that no YAML reader takes for anything else …"""

RESERVED = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
"""… apart from these words."""


@dataclass(frozen=True)
class Parts:
    """A Markdown file, taken apart."""

    fields: dict[str, str]
    lines: dict[str, int]
    """The line of each field in the file, from 1."""
    text: str


def split(source: str) -> Parts:
    """Take the front matter off a file whose lines end with a line feed.

    A file that does not begin with a fence, or whose fence is never closed, has no front matter: the whole is text.
    Of other YAML than `key: value`, such as lists, nothing is taken.
    """
    lines = source.split("\n")
    ends = [number for number, line in enumerate(lines) if number and line.rstrip() == FENCE]
    if lines[0].rstrip() != FENCE or not ends:
        return Parts({}, {}, source.strip("\n"))
    fields: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines[1 : ends[0]], start=2):
        field = FIELD.fullmatch(line)
        if field is not None:
            fields[field["key"]] = _unquoted(field["value"].strip())
            numbers[field["key"]] = number
    return Parts(fields, numbers, "\n".join(lines[ends[0] + 1 :]).strip("\n"))


def join(fields: Mapping[str, str], text: str) -> str:
    """Put front matter and text together; `split` takes them apart again."""
    block = [f"{key}: {_quoted(value)}" for key, value in fields.items()]
    return "\n".join([FENCE, *block, FENCE, "", text, ""])


def _quoted(value: str) -> str:
    plain = PLAIN.fullmatch(value) and value.isprintable() and value == value.strip() and value.lower() not in RESERVED
    return value if plain or _is_day(value) else json.dumps(value, ensure_ascii=False)


def _is_day(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == '"':
        try:
            return str(json.loads(value))
        except json.JSONDecodeError:
            return value[1:-1]
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value
