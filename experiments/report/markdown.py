r"""Untrusted text inside Markdown: it stays text, on one line, whatever it holds.

Questions, answers and passages come from documents and from a model. In `report.md` they may not open a link, an HTML
tag, a table cell, a heading or a formula. What needs no escape is left alone, so that the file reads well as plain
text:

    a|b <i> `c`   becomes   a\|b &lt;i> \`c\`
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from experiments.report import words
from experiments.report.tables import Cell, Table

_SPECIAL = re.compile(r"[\\`*\[\]|~$]")
_OUTER_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_ENTITY = re.compile(r"&(?=#|\w)")
_AUTOLINK = re.compile(r"\b(?:(https?|ftp|mailto|xmpp):|(www)\.)", re.IGNORECASE)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_BLOCK_START = re.compile(r"^(?:([#>=]|[+-](?=[\s-]|$))|(\d+)([.)])(?=\s))")


class Verbatim(str):
    """Markdown that is not to be escaped again."""


def escape(text: object) -> str:
    """Return the text on one line with every character escaped that Markdown would act on."""
    line = " ".join(words.visible(str(text)).split())
    line = _SPECIAL.sub(r"\\\g<0>", line)
    line = _OUTER_UNDERSCORE.sub(r"\\_", line)
    line = _TAG.sub("&lt;", _ENTITY.sub("&amp;", line))
    line = _AUTOLINK.sub(lambda found: f"{found[1]}\\:" if found[1] else f"{found[2]}\\.", line)
    return _BLOCK_START.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", line)


def fenced(text: str) -> Verbatim:
    """Return the text as a code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Verbatim(f"{fence}\n{words.visible(text)}\n{fence}")


def finalize(value: object) -> str:
    """Escape what a template writes out, unless it is Markdown already: escaping is the rule, not the exception."""
    return value if isinstance(value, Verbatim) else escape(value)


def table(content: Table) -> Verbatim:
    """Return a table whose columns line up in plain text as well."""
    header = [escape(column.title) for column in content.columns]
    rows = [[_cell(cell) for cell in row] for row in content.rows]
    widths = [max(3, *(len(row[index]) for row in [header, *rows])) for index in range(len(header))]
    numeric = [column.numeric for column in content.columns]
    rule = [f"{'-' * (width - 1)}:" if right else "-" * width for width, right in zip(widths, numeric, strict=True)]
    return Verbatim("\n".join(_line(row, widths, numeric) for row in [header, rule, *rows]))


def _cell(cell: Cell) -> str:
    return escape(f"{cell.text} ({cell.note})" if cell.note else cell.text)


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = (
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, numeric, strict=True)
    )
    return f"| {' | '.join(padded)} |"
