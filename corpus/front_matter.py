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

FENCE = "---"

PLAIN = re.compile(r"[A-Za-z0-9][^:#\"]*")
"""A value that any YAML reader takes as the text it is."""


@dataclass(frozen=True)
class Parts:
    """A Markdown file, taken apart."""

    fields: dict[str, str]
    text: str
    problems: tuple[tuple[int, str], ...]
    """(line, what is wrong) for lines of the block that cannot be read."""


def split(source: str) -> Parts:
    """Take the front matter off a file whose lines end with a line feed.

    A file that does not begin with a fence, or whose fence is never closed, has no front matter: the whole is text.
    """
    lines = source.split("\n")
    if lines[0].rstrip() != FENCE:
        return Parts({}, source.strip("\n"), ())
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == FENCE), None)
    if end is None:
        return Parts({}, source.strip("\n"), ())
    fields: dict[str, str] = {}
    problems: list[tuple[int, str]] = []
    for number, line in enumerate(lines[1:end], start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, colon, value = line.partition(":")
        if not colon or not key.strip():
            problems.append((number, f"{line.strip()!r} is no front matter; write `key: value`"))
            continue
        fields[key.strip()] = _unquoted(value.strip())
    return Parts(fields, "\n".join(lines[end + 1 :]).strip("\n"), tuple(problems))


def join(fields: Mapping[str, str], text: str) -> str:
    """Put front matter and text together; `split` takes them apart again unchanged."""
    block = [
        f"{key}: {value if PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)}"
        for key, value in fields.items()
    ]
    return "\n".join([FENCE, *block, FENCE, "", text, ""])


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == '"':
        try:
            return str(json.loads(value))
        except json.JSONDecodeError:
            return value[1:-1]
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value
